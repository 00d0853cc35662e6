"""Topics of ROS 2 over DDS without ROS (extra ``dds``).

Only this computer is reached unless asked otherwise: the interface is loopback, and other
processes are found at its address alone.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robodyn.array_types import FloatArray
from robodyn.bags.messages import Messages
from robodyn.caller import warn
from robodyn.errors import MissingExtraError, RobodynError

#: cyclonedds does not accept type objects of vendor 1.15: it is matched by type names.
_CONFIG = """<CycloneDDS><Domain>{where}
<Compatibility><IgnoreTypeInformation>1.15</IgnoreTypeInformation></Compatibility>
</Domain></CycloneDDS>"""
_LOOPBACK = """
<General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>
<Peers><Peer address="127.0.0.1"/></Peers></Discovery>"""

#: DDS domains that this process has entered; kept alive here, since a deleted domain closes all
#: of its entities.
_domains: dict[int, tuple[Any, bool]] = {}


@dataclass(frozen=True, eq=False)
class JointSample:
    """A ``sensor_msgs/JointState``.

    position, velocity, effort (n,) or (0,) [rad, m], [rad/s, m/s], [N m, N]: As received, and not
        checked: they may have any length, and need not be finite.
    stamp [ns]
    """

    names: tuple[str, ...]
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray
    stamp: int = 0


class DdsNode:
    """A node that other ROS 2 programs can discover.

    domain, optional: Default: ``ROS_DOMAIN_ID``, or 0.
    network: Also reach other computers.
    Raises MissingExtraError: Without the extra ``dds``.
    Raises RobodynError: If the domain cannot be entered.
    """

    def __init__(
        self, name: str, *, namespace: str = "/", domain: int | None = None, network: bool = False
    ) -> None:
        self.name, self.namespace = name, "/" + namespace.strip("/")
        if not name.replace("_", "a").isalnum() or name[:1].isdigit() or not name.isascii():
            raise RobodynError(f"a node cannot be named {name!r}: use letters, digits and _")
        number = _domain_number() if domain is None else domain
        try:
            from cyclonedds.core import DDSException, Policy, Qos
            from cyclonedds.domain import DomainParticipant
        except ImportError:
            raise MissingExtraError("cyclonedds", "dds", "DDS without ROS") from None
        from robodyn.ros.dds import types as dds_types

        self.types = dds_types
        self.messages = Messages(lambda kind: self._type(kind.split("/")[-1]), np.ndarray.tolist)
        try:
            with nullcontext() if network else only_loopback():
                self._domain = _enter(number, network)
                qos = Qos(Policy.Userdata(b"enclave=/;"))
                self._participant = DomainParticipant(number, qos=qos)
        except DDSException as error:
            raise RobodynError(f"DDS domain {number} cannot be entered: {error}") from error
        self._readers: list[Any] = []
        self._writers: list[Any] = []
        info = dds_types.ParticipantEntitiesInfo
        self._info = self._endpoint(info, "ros_discovery_info", 1, True, write=True)
        self._announce()

    def writer(self, kind: str, topic: str, *, depth: int = 10, latched: bool = False) -> Writer:
        """A publisher of a type of `robodyn.ros.dds.types`; late readers get latched messages."""
        return Writer(self, self._opened(self._writers, kind, topic, depth, latched))

    def reader(self, kind: str, topic: str, *, depth: int = 10, latched: bool = False) -> Reader:
        """A subscription, of which the newest ``depth`` messages wait to be taken."""
        return Reader(self, self._opened(self._readers, kind, topic, depth, latched))

    def resolved(self, topic: str) -> str:
        """Full name: ``~/x`` belongs to the node, ``x`` to its namespace, ``/x`` to nobody."""
        if topic.startswith("~/"):
            topic = f"{self.name}/{topic[2:]}"
        return topic if topic.startswith("/") else f"{self.namespace.rstrip('/')}/{topic}"

    def close(self) -> None:
        """Leave the DDS domain; peers notice at once."""
        self._readers, self._writers, self._info = [], [], None
        self._participant = None

    def _type(self, kind: str) -> Any:
        return getattr(self.types, kind)

    def _opened(self, entities: list[Any], kind: str, topic: str, depth: int, latched: bool) -> Any:
        """An entity beside others of its sort, which other nodes are told of."""
        name, write = "rt" + self.resolved(topic), entities is self._writers
        entities.append(self._endpoint(self._type(kind), name, depth, latched, write))
        self._announce()
        return entities[-1]

    def _endpoint(self, kind: Any, topic: str, depth: int, latched: bool, write: bool) -> Any:
        from cyclonedds.core import Policy, Qos
        from cyclonedds.pub import DataWriter
        from cyclonedds.sub import DataReader
        from cyclonedds.topic import Topic
        from cyclonedds.util import duration

        if self._participant is None:
            raise RobodynError(f"node {self.name!r} is closed")
        policies = [
            Policy.Reliability.Reliable(duration(infinite=True)),
            Policy.History.KeepLast(depth),
            Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile,
            Policy.DataRepresentation(use_cdrv0_representation=True),
        ]
        if kind in self.types.HASHES:
            policies.append(Policy.Userdata(f"typehash={self.types.HASHES[kind]};".encode()))
        qos = Qos(*policies)
        described = Topic(self._participant, topic, kind, qos=qos)
        return (DataWriter if write else DataReader)(self._participant, described, qos=qos)

    def _announce(self) -> None:
        """Announce the endpoints of this node to ROS programs."""
        types = self.types

        def gid(entity: Any) -> Any:
            return types.Gid(list(entity.guid.bytes))

        node = types.NodeEntitiesInfo(
            self.namespace, self.name, [*map(gid, self._readers)], [*map(gid, self._writers)]
        )
        self._info.write(types.ParticipantEntitiesInfo(gid(self._participant), [node]))


class Writer:
    """A publisher of a `DdsNode`."""

    def __init__(self, node: DdsNode, entity: Any) -> None:
        self._node, self._entity = node, entity

    @property
    def matched(self) -> int:
        """Number of matched readers."""
        return len(self._entity.get_matched_subscriptions())

    def write(self, message: Any) -> None:
        """Send a message of the writer's type."""
        self._entity.write(message)

    def state(
        self,
        names: Sequence[str],
        position: ArrayLike = (),
        velocity: ArrayLike = (),
        effort: ArrayLike = (),
        stamp: int = 0,
    ) -> None:
        """Send a JointState with a time stamp [ns]; unknown values are left empty."""
        columns = (np.asarray(x, float) for x in (position, velocity, effort))
        self.write(self._node.messages.joint_state(divmod(int(stamp), 10**9), names, *columns))

    def numbers(self, values: ArrayLike) -> None:
        """Send a Float64MultiArray."""
        self.write(self._node.messages.numbers(np.asarray(values, float).ravel()))

    def text(self, text: str) -> None:
        """Send a String."""
        self.write(self._node.messages.text(text))


class Reader:
    """A subscription of a `DdsNode`."""

    def __init__(self, node: DdsNode, entity: Any) -> None:
        self._node, self._entity = node, entity
        #: Number of messages that could not be deserialised as this type.
        self.malformed = 0
        #: Why messages of the last call were not read: they were too large.
        self.unread: list[str] = []
        self._waiting: Any = None

    @property
    def matched(self) -> int:
        """Number of matched writers."""
        return len(self._entity.get_matched_publications())

    def wait(self, seconds: float) -> bool:
        """Wait until there is a message, but no longer than a time [s]; whether there is one."""
        from cyclonedds.util import duration

        if self._waiting is None:
            from cyclonedds.core import (
                InstanceState,
                ReadCondition,
                SampleState,
                ViewState,
                WaitSet,
            )

            every = SampleState.NotRead | ViewState.Any | InstanceState.Any
            self._waiting = WaitSet(self._entity.participant)
            self._waiting.attach(ReadCondition(self._entity, every))
        return bool(self._waiting.wait(duration(nanoseconds=max(int(1e9 * seconds), 1))))

    def take(self, most: int = 100) -> list[Any]:
        """Messages since the last call, oldest first."""
        try:
            taken = self._entity.take(most)
        except Exception:  # whatever the bytes of others do to the deserialiser
            self.malformed += 1
            return []
        kind = self._entity.topic.data_type
        unread = self._node.types.Unread
        self.unread = [message.problem for message in taken if isinstance(message, unread)]
        return [message for message in taken if isinstance(message, kind)]  # not: writer is gone

    def states(self) -> list[JointSample]:
        """JointStates since the last call."""
        return [_sample(message) for message in self.take()]


def _sample(message: Any) -> JointSample:
    position, velocity, effort = (
        np.array(x, float) for x in (message.position, message.velocity, message.effort)
    )
    stamp = message.header.stamp
    nanoseconds = stamp.sec * 10**9 + stamp.nanosec
    return JointSample(tuple(message.name), position, velocity, effort, nanoseconds)


def _domain_number() -> int:
    given = os.environ.get("ROS_DOMAIN_ID", "") or "0"
    if not given.isdecimal() or int(given) > 232:
        raise RobodynError(f"ROS_DOMAIN_ID is {given!r}, expected a number from 0 to 232")
    return int(given)


def _enter(number: int, network: bool) -> Any:
    from cyclonedds.domain import Domain

    if number not in _domains:
        config = _CONFIG.format(where="" if network else _LOOPBACK)
        _domains[number] = Domain(number, config), network
    domain, reaches = _domains[number]
    if reaches != network:
        raise RobodynError(
            f"this process is in DDS domain {number} with network={reaches}: use another domain"
        )
    return domain


@contextmanager
def only_loopback() -> Iterator[None]:
    """Bind datagram sockets that are opened in this context to the loopback interface (Linux).

    cyclonedds opens its ports to every network, also when its interface is loopback (its issues
    1923 and 2090): it announces loopback addresses only, but a packet made by hand would come in.
    """
    before = open_sockets()
    yield
    if not sys.platform.startswith("linux"):
        warn(
            "DDS announces its address to programs of this computer only, but a firewall has to "
            "keep others from its ports"
        )
        return
    for inode, number in open_sockets().items():
        if inode not in before:
            _tie(number)


def _tie(number: int) -> None:
    with socket.socket(fileno=os.dup(number)) as twin:
        if twin.type != socket.SOCK_DGRAM or twin.family not in (socket.AF_INET, socket.AF_INET6):
            return
        try:
            twin.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
        except OSError as error:
            warn(f"port {twin.getsockname()[1]} of DDS may be reached from outside: {error}")


def open_sockets() -> dict[str, int]:
    """Sockets of this process, by their name in the kernel, with file descriptors (Linux)."""
    sockets = {}
    if sys.platform.startswith("linux"):
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                target = os.readlink(f"/proc/self/fd/{name}")
                if target.startswith("socket:"):
                    sockets[target] = int(name)
    return sockets
