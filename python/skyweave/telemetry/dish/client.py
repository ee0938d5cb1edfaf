"""A client of a dish that trusts nothing that it hears.

The schema is asked of the dish when a connection begins, and again after each failure, restart and
update: new firmware may lack a field, and what a schema does not have must not be read as 0. This
is why the client stands on grpcio's reflection itself: ``starlink-grpc-core`` learns a schema once
in the life of a process. Replies beyond :data:`MOST_BYTES` are refused before they are parsed.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any

from skyweave.printing import visible
from skyweave.telemetry.dish.errors import DishError, needs_extra
from skyweave.telemetry.dish.status import take

try:
    import grpc
    from google.protobuf import descriptor_pool, message_factory
    from google.protobuf.message import DecodeError
    from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
        ProtoReflectionDescriptorDatabase,
    )
except ImportError as error:
    raise needs_extra() from error

HOST = "192.168.100.1:9200"
"""Where every Starlink dish answers on its own network."""
MOST_BYTES = 4 * 2**20
"""The longest reply that is read; a map has 60 kB, a history 20 kB."""
TIMEOUT_S = 3.0
"""How long an answer is waited for; the status of the next second must not wait for long."""
MOST_FILES = 64
"""Files of a schema that are asked for; dishes have about ten."""
_REQUEST = "SpaceX.API.Device.Request"
_RESPONSE = "SpaceX.API.Device.Response"
_METHOD = "/SpaceX.API.Device.Device/Handle"


class Dish:
    """One dish. Messages are returned as protobuf has them; ``rows`` and ``sky_map`` read them."""

    def __init__(self, host: str = HOST, timeout_s: float = TIMEOUT_S) -> None:
        self.host = host
        self.timeout_s = timeout_s
        self._channel: Any = None
        self._request: Any = None
        self._call: Any = None
        self._firmware: tuple[Any, Any] | None = None

    def __enter__(self) -> Dish:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def close(self) -> None:
        """End the connection; the next request begins another."""
        if self._channel is not None:
            self._channel.close()
        self._channel = self._call = None

    def status(self) -> Any:
        """Ask for the status: ``DishGetStatusResponse``."""
        said = self._ask("get_status", "dish_get_status")
        firmware = (take(said, "device_info.software_version"), take(said, "device_info.bootcount"))
        if self._firmware not in (None, firmware):  # gRPC connected again without a word
            self.close()
            said = self._ask("get_status", "dish_get_status")
        self._firmware = firmware
        return said

    def history(self) -> Any:
        """Ask for the last 900 s: ``DishGetHistoryResponse``."""
        return self._ask("get_history", "dish_get_history")

    def obstruction_map(self) -> Any:
        """Ask for the obstruction map: ``DishGetObstructionMapResponse``."""
        return self._ask("dish_get_obstruction_map", "dish_get_obstruction_map")

    def clear_map(self) -> None:
        """Empty the obstruction map, also in the view of its owner."""
        self._ask("dish_clear_obstruction_map", "dish_clear_obstruction_map")

    def location(self) -> tuple[float, float, float] | None:
        """Return latitude, longitude (degrees) and height (m); None where the owner denies it."""
        try:
            place = self._ask("get_location", "get_location").lla
        except DishError as error:
            if error.denied:
                return None
            raise
        return (place.lat, place.lon, place.alt)

    def _ask(self, what: str, answer: str) -> Any:
        try:
            if self._call is None:
                self._connect()
            response = self._call(self._request(**{what: {}}), timeout=self.timeout_s)
            if response.WhichOneof("response") != answer:
                raise ValueError(f"another answer than {answer}")
            return getattr(response, answer)
        except grpc.RpcError as error:
            self.close()
            raise self._failed(error) from None
        except (AttributeError, KeyError, TypeError, ValueError, DecodeError) as error:
            self.close()
            why = visible(str(error))[:200]
            raise DishError(
                f"{self.host}: does not speak as a dish does ({why}); check --host"
            ) from None

    def _connect(self) -> None:
        """Begin a connection with the schema that the dish has now."""
        options = [
            ("grpc.max_receive_message_length", MOST_BYTES),
            ("grpc.enable_http_proxy", 0),
            ("grpc.use_local_subchannel_pool", 1),
        ]
        self._channel = grpc.insecure_channel(self.host, options=options)
        asked = grpc.intercept_channel(self._channel, _Bounded(self.timeout_s))
        pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(asked))
        self._request, response = (
            message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
            for name in (_REQUEST, _RESPONSE)
        )
        self._call = self._channel.unary_unary(
            _METHOD,
            request_serializer=self._request.SerializeToString,
            response_deserializer=response.FromString,
        )

    def _failed(self, error: Any) -> DishError:
        code = error.code() if isinstance(error, grpc.Call) else None
        said = visible(str(error.details() if isinstance(error, grpc.Call) else error))[:200]
        if code == grpc.StatusCode.PERMISSION_DENIED:
            return DishError(f"{self.host}: denies this ({said}); its owner can allow it", True)
        if code == grpc.StatusCode.DEADLINE_EXCEEDED:
            return DishError(f"{self.host}: no answer within {self.timeout_s:g} s; is it a dish?")
        if code == grpc.StatusCode.UNAVAILABLE:
            return DishError(f"{self.host}: not reachable ({said}); check --host and the cable")
        return DishError(f"{self.host}: the request failed ({said}); try again")


class _Bounded(grpc.StreamStreamClientInterceptor):  # type: ignore[misc]
    """Reflection that ends: each question has a deadline, and there are not many."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._left = MOST_FILES

    def intercept_stream_stream(self, go_on: Any, details: Any, requests: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"its schema has more than {MOST_FILES} files")
        return go_on(details._replace(timeout=self._timeout_s), requests)
