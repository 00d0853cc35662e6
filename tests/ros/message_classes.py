"""Message classes for conversions: those of ROS, or where it is not, ones made of its definitions.

rosbags carries the definitions of all messages of ROS 2. Made of them, a class is as strict as that
of rclpy: it has the fields of the definition and no others, each of its type.
"""

from __future__ import annotations

import importlib.util
import types

import numpy as np

PACKAGES = ("builtin_interfaces", "geometry_msgs", "sensor_msgs", "std_msgs", "tf2_msgs",
            "trajectory_msgs")  # fmt: skip
#: Kinds of fields of rosbags: a plain value, a message, and sequences of both.
BASE, NAME, ARRAY = 1, 2, 3
PLAIN = {"string": str, "bool": bool, "float32": float, "float64": float}


def _store():
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_JAZZY)


class Message:
    """A message of ROS; ``fields`` are the definitions of its class by name."""

    kind: str
    fields: dict

    def __init__(self, **given):
        for name, (sort, detail) in self.fields.items():
            if sort == BASE:
                default = PLAIN.get(detail[0], int)()
            else:
                default = message_class(detail)() if sort == NAME else _empty(sort, detail)
            object.__setattr__(self, name, default)
        for name, value in given.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        if name not in self.fields:
            raise AttributeError(f"{self.kind} has no field {name!r}")
        _check(f"{self.kind}.{name}", *self.fields[name], value)
        object.__setattr__(self, name, value)

    def there(self, store):
        """The same message as rosbags has it."""
        values = [_there(store, *self.fields[name], getattr(self, name)) for name in self.fields]
        return store.types[self.kind](*values)


def _empty(sort, detail):
    """A sequence without elements, or an array of zeros."""
    (_, kind), size = detail
    return [PLAIN.get(kind[0], int)()] * size if sort == ARRAY else []


def _check(what, sort, detail, value):
    if sort == BASE:
        assert type(value) is PLAIN.get(detail[0], int), (
            f"{what} is {value!r}, expected {detail[0]}"
        )
    elif sort == NAME:
        assert isinstance(value, message_class(detail)), f"{what} is {value!r}, expected {detail}"
    else:
        assert isinstance(value, list), f"{what} is {value!r}, expected a list"
        for each in value:
            _check(what, *detail[0], each)


def _there(store, sort, detail, value):
    if sort == BASE:
        return value
    if sort == NAME:
        return value.there(store)
    (inner, kind), _ = detail
    for each in value:
        _check(kind, inner, kind, each)  # what was appended
    if inner == NAME:
        return [each.there(store) for each in value]
    return np.array(value) if kind[0] != "string" else value


_classes: dict[str, type] = {}


def message_class(kind):
    """Class of messages of a kind, ``"package/msg/Name"``."""
    if kind not in _classes:
        fields = {name: (int(sort), _plain(sort, detail)) for name, (sort, detail)
                  in _store().fielddefs[kind][1]}  # fmt: skip
        _classes[kind] = type(kind.rpartition("/")[2], (Message,), {"kind": kind, "fields": fields})
    return _classes[kind]


def _plain(sort, detail):
    """Definitions with plain numbers for the sorts of fields."""
    if int(sort) in (BASE, NAME):
        return detail
    (inner, kind), size = detail
    return (int(inner), kind), size


def module_of(package):
    """The module ``package.msg`` of classes made here; ``None`` where rosbags is not installed."""
    if importlib.util.find_spec("rosbags") is None:
        return None
    module = types.ModuleType(f"{package}.msg")
    first = f"{package}/msg/"
    for kind in _store().fielddefs:
        if kind.startswith(first):
            setattr(module, kind.removeprefix(first), message_class(kind))
    return module


def read_back(message):
    """What a reader finds in the bytes of a message."""
    if isinstance(message, Message):
        store = _store()
        data = store.serialize_cdr(message.there(store), message.kind)
        return store.deserialize_cdr(data, message.kind)
    from rclpy.serialization import deserialize_message, serialize_message

    return deserialize_message(serialize_message(message), type(message))
