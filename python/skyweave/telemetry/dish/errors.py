"""What goes wrong with a dish."""

from skyweave.errors import ConfigError, SkyweaveError


class DishError(SkyweaveError):
    """The dish did not answer, or not with what was asked; ``denied``: it is not allowed to."""

    def __init__(self, sentence: str, denied: bool = False) -> None:
        super().__init__(sentence)
        self.denied = denied


def needs_extra() -> ConfigError:
    """Return the error of a machine without the packages that speak to a dish."""
    return ConfigError("talking to a dish needs gRPC; install it: pip install 'skyweave[dish]'")
