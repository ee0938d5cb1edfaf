"""A fake dish: a gRPC server with reflection that a real dish's clients read.

It answers from a :class:`World <skyweave.telemetry.dish.world.World>` and does wrong what it is
told to. Its schema is in a pool of its own, so a client may live in the same process.
"""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

import numpy as np

from skyweave.errors import ConfigError
from skyweave.telemetry.clock import reply
from skyweave.telemetry.dish import faults
from skyweave.telemetry.dish.errors import needs_extra
from skyweave.telemetry.dish.faults import Fault, Planned
from skyweave.telemetry.dish.sky_map import (
    SIZE,
    Frame,
    Quaternion,
    axes_of,
    body_axes,
    pixels,
)
from skyweave.telemetry.dish.world import World

try:
    import grpc
    from grpc_reflection.v1alpha import reflection

    from skyweave.telemetry.dish.api import CAUSES, FRAMES, SERVICE, Schema
except ImportError as error:
    raise needs_extra() from error

RING_S = 900
"""Length of the history, as dishes have it."""
PAINTED_S = 900
"""The map shows at most the last 15 minutes: what is older was cleared."""
FIRMWARE = "skyweave.fake.release"
UNKNOWN_FIELD = b"\x92\xf7\x04\x05later"
"""Field 9,970 with five bytes: what a newer firmware may say."""
LEVEL: Quaternion = (0.0, math.sqrt(0.5), -math.sqrt(0.5), 0.0)
"""A dish whose boresight is the zenith."""


class FakeDish:
    """One dish on one port, from :meth:`start` to :meth:`stop`; also a context manager."""

    def __init__(
        self,
        world: World,
        now: Callable[[], float],
        *,
        address: str = "127.0.0.1:0",
        ntp: tuple[str, int] | None = None,
        frame: Frame = "FRAME_EARTH",
        attitude: Callable[[float], Quaternion] = lambda _: LEVEL,
        planned: Sequence[Planned] = (),
        slow: Callable[[float], object] | None = None,
    ) -> None:
        """``now`` is the dish's clock (Unix s); ``slow`` waits out the fault of that name."""
        self.world = world
        self.frame: Frame = frame
        self.attitude = attitude
        self.planned = list(planned)
        self.location_allowed = True
        self.clears = 0
        self._now = now
        self._stopping = threading.Event()
        self._slow = slow or self._stopping.wait
        self._booted = self._counted = self._cleared = self._began = now()
        self._boots = 1
        self._lock = threading.Lock()
        self._schemas = {False: Schema(), True: Schema(without=faults.WITHOUT)}
        self._ntp = _Clock(ntp, self._clock) if ntp is not None else None
        self._address = address
        self._server: Any = None
        self.port = 0
        self.ntp_port = 0

    def start(self) -> FakeDish:
        """Listen; :class:`ConfigError` if the address is not available."""
        if self._ntp is not None:
            self.ntp_port = self._ntp.start()
        self.world.at(math.floor(self._now()))  # the schedule of this hour: no client waits for it
        missing = self._has(Fault.FIELD_MISSING)
        schema = self._schemas[missing]
        self._server = grpc.server(
            ThreadPoolExecutor(max_workers=4),
            options=[("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)],
        )
        handler = grpc.unary_unary_rpc_method_handler(
            self._handle, request_deserializer=schema.message("Request").FromString
        )
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(SERVICE, {"Handle": handler}),)
        )
        names = (SERVICE, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._server, pool=schema.pool)
        try:
            self.port = self._server.add_insecure_port(self._address)
        except RuntimeError:
            self.port = 0
        if not self.port:
            self.stop()
            raise ConfigError(f"--listen {self._address}: is not available; choose another port")
        self._server.start()
        return self

    def stop(self) -> None:
        """Stop listening; calls under way are cut."""
        self._stopping.set()
        if self._server is not None:
            self._server.stop(grace=None).wait()
        if self._ntp is not None:
            self._ntp.stop()

    def __enter__(self) -> FakeDish:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.stop()

    @property
    def host(self) -> str:
        """Where it listens."""
        return f"{self._address.rpartition(':')[0]}:{self.port}"

    def _has(self, fault: Fault) -> bool:
        age = self._now() - self._began
        return any(one.fault == fault and one.active(age) for one in self.planned)

    def _happens(self, fault: Fault) -> bool:
        """Tell whether a fault that happens once is due, and take it from the plan."""
        with self._lock:
            age = self._now() - self._began
            due = [one for one in self.planned if one.fault == fault and age >= one.start_s]
            for one in due:
                self.planned.remove(one)
            return bool(due)

    def _clock(self) -> float:
        return self._now() + (faults.CLOCK_OFF_S if self._has(Fault.CLOCK_OFF) else 0.0)

    def _handle(self, request: Any, context: Any) -> bytes:
        """Answer a request in bytes, so that faults may tear them."""
        if self._happens(Fault.REBOOT):
            self._booted = self._counted = self._cleared = self._now()
            self._boots += 1
            context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
        if self._happens(Fault.COUNTER_RESET):
            self._counted = self._now()
        if self._has(Fault.UNREACHABLE):
            context.abort(grpc.StatusCode.UNAVAILABLE, "No route to host")
        if self._has(Fault.SLOW):
            self._slow(faults.SLOW_S)
        if self._has(Fault.HUGE):
            return bytes(faults.HUGE_BYTES)
        asked = request.WhichOneof("request")
        response = self._schemas[self._has(Fault.FIELD_MISSING)].message("Response")()
        fill = {
            "get_status": self._status,
            "get_history": self._history,
            "get_location": self._location,
            "dish_get_obstruction_map": self._map,
            "dish_clear_obstruction_map": self._clear,
        }.get(asked)
        if fill is None:
            return bytes(context.abort(grpc.StatusCode.UNIMPLEMENTED, "Unimplemented"))
        if asked == "get_location" and (
            not self.location_allowed or self._has(Fault.LOCATION_DENIED)
        ):
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "Permission denied")
        fill(response)
        answer: bytes = response.SerializeToString()
        if self._has(Fault.UNKNOWN_FIELD):
            answer += UNKNOWN_FIELD
        return answer[: len(answer) // 2] if self._has(Fault.TORN) else answer

    def _status(self, response: Any) -> None:
        now = self._now()
        second = self.world.at(math.floor(now))
        said = response.dish_get_status
        said.device_info.id = "ut00000000-00000000-00000000"
        said.device_info.hardware_version = "fake1_proto1"
        lacking = self._has(Fault.FIELD_MISSING)
        said.device_info.software_version = FIRMWARE + ".lacking" * lacking
        said.device_info.bootcount = self._boots
        said.device_state.uptime_s = int(now - self._booted)
        attitude = self.attitude(now)
        north, east, down = body_axes(attitude)[:, 2]
        said.boresight_azimuth_deg = math.degrees(math.atan2(east, north))
        said.boresight_elevation_deg = math.degrees(math.asin(max(-1.0, min(1.0, -down))))
        said.alignment_stats.tilt_angle_deg = 90.0 - said.boresight_elevation_deg
        said.alignment_stats.boresight_azimuth_deg = said.boresight_azimuth_deg
        said.alignment_stats.boresight_elevation_deg = said.boresight_elevation_deg
        said.alignment_stats.attitude_uncertainty_deg = 0.5
        said.obstruction_stats.fraction_obstructed = 0.0
        said.obstruction_stats.currently_obstructed = False
        said.obstruction_stats.valid_s = min(now - self._cleared, PAINTED_S)
        said.alerts.SetInParent()
        said.gps_stats.gps_valid = True
        said.gps_stats.gps_sats = 12
        said.is_snr_above_noise_floor = not second.cause
        said.pop_ping_drop_rate = 0.0 if second.latency_ms is not None else 1.0
        said.downlink_throughput_bps = second.down_mbps * 1e6
        said.uplink_throughput_bps = second.up_mbps * 1e6
        if not lacking:
            said.pop_ping_latency_ms = second.latency_ms or 0.0
            quaternion = said.ned2dish_quaternion
            quaternion.q_scalar, quaternion.q_x, quaternion.q_y, quaternion.q_z = attitude
            if second.cause:
                said.outage.cause = CAUSES.index(second.cause)
                said.outage.did_switch = second.cause == "NO_SCHEDULE"
        if self._has(Fault.NOT_A_NUMBER):
            said.pop_ping_latency_ms = math.nan
            said.downlink_throughput_bps = -1.0
            said.uplink_throughput_bps = math.inf
            said.pop_ping_drop_rate = -0.5
            said.device_info.bootcount = -1

    def _history(self, response: Any) -> None:
        now = math.floor(self._now())
        counter = max(0, now - math.floor(self._counted))
        said = response.dish_get_history
        said.current = counter
        count = min(counter, RING_S)
        ring = [self.world.at(now - count + place) for place in range(count)]
        if counter > RING_S:  # the newest sample is at (counter - 1) modulo the length
            turn = counter % RING_S
            ring = ring[-turn:] + ring[:-turn] if turn else ring
        wrong = self._has(Fault.NOT_A_NUMBER)
        said.pop_ping_drop_rate.extend(float(one.latency_ms is None) for one in ring)
        said.downlink_throughput_bps.extend(-1.0 if wrong else one.down_mbps * 1e6 for one in ring)
        said.uplink_throughput_bps.extend(one.up_mbps * 1e6 for one in ring)
        if not self._has(Fault.FIELD_MISSING):
            said.pop_ping_latency_ms.extend(
                math.nan if wrong else one.latency_ms or 0.0 for one in ring
            )

    def _map(self, response: Any) -> None:
        now = math.floor(self._now())
        side = faults.OTHER_MAP if self._has(Fault.OTHER_MAP) else SIZE
        snr = np.full((side, side), -1.0)
        for second in range(max(math.ceil(self._cleared), now - PAINTED_S), now + 1):
            towards, axes = self.world.towards(second), axes_of(self.frame, self.attitude(second))
            if towards is not None and axes is not None:
                (row,), (column,) = pixels(towards, axes, side)
                if row >= 0:
                    snr[row, column] = 1.0
        said = response.dish_get_obstruction_map
        said.num_rows = said.num_cols = side
        said.snr.extend([math.nan] * side if self._has(Fault.NOT_A_NUMBER) else snr[0].tolist())
        said.snr.extend(snr[1:].ravel().tolist())
        said.min_elevation_deg = 10.0
        said.max_theta_deg = 80.0
        said.map_reference_frame = FRAMES.index(self.frame)

    def _clear(self, response: Any) -> None:
        self._cleared = self._now()
        self.clears += 1
        response.dish_clear_obstruction_map.SetInParent()

    def _location(self, response: Any) -> None:
        place = self.world.spec.terminal
        said = response.get_location.lla
        said.lat, said.lon, said.alt = place.coordinates


class _Clock:
    """NTP answers from the dish's clock, on a thread."""

    def __init__(self, address: tuple[str, int], clock: Callable[[], float]) -> None:
        self._address = address
        self._clock = clock
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._stopping = False

    def start(self) -> int:
        made = socket.socket(socket.AF_INET6 if ":" in self._address[0] else socket.AF_INET,
                             socket.SOCK_DGRAM)  # fmt: skip
        try:
            made.bind(self._address)
        except OSError as error:
            made.close()
            raise ConfigError(
                f"--ntp {self._address[0]}:{self._address[1]}: {error.strerror}; choose another"
            ) from None
        self._socket = made
        self._thread = threading.Thread(target=self._run, args=(made,), daemon=True)
        self._thread.start()
        return int(made.getsockname()[1])

    def stop(self) -> None:
        if self._socket is not None and self._thread is not None:
            self._stopping = True
            with socket.socket(self._socket.family, socket.SOCK_DGRAM) as bell:
                bell.sendto(b"", self._socket.getsockname())
            self._thread.join()
            self._socket.close()
            self._socket = None

    def _run(self, mine: socket.socket) -> None:
        while True:
            question, peer = mine.recvfrom(512)
            if self._stopping:
                return
            answer = reply(question, self._clock())
            if answer is not None:
                mine.sendto(answer, peer)
