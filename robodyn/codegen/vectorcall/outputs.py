"""The call entry's results: arrays that are made or given out again, and what is returned."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from robodyn.codegen.vectorcall.ir_words import (
    AXES,
    BASE,
    DATA,
    DESCR,
    FLAGS,
    I32,
    I64,
    NULL,
    OWNED,
    PTR,
    SHAPE,
    VOID,
    WEAK,
    Words,
    word,
)  # fmt: skip
from robodyn.codegen.vectorcall.table import MAX_AXES, PORT, SPARES, TABLE

__all__ = ["Outputs"]


class Outputs(Words):
    """The steps that make results."""

    def make_outputs(self) -> None:
        """New arrays; a scalar of one state gets its object only when it is computed."""
        b = self.b

        def make(k: Any) -> None:
            index = b.add(self.n_in, k)
            p_axes, p_size, p_shape = self.port(index)
            extra = self.get("extra")
            self.put(self.strides, index, p_size, I64)
            self.loop(extra, lambda j: self._axis(j, self.item(self.get("lead"), j, I64)))
            self.loop(p_axes, lambda j: self._axis(b.add(extra, j), self.item(p_shape, j, I64)))
            axes = b.add(extra, p_axes)
            with b.if_else(self.same(axes, word(0))) as (scalar, array):
                with scalar:
                    self.put(self.data, index, self.at(self.scalars, k, I64))
                    self.put(self.made, k, NULL)
                with array:
                    self.set("out", NULL)
                    with b.if_then(self.same(extra, word(0))):
                        self.loop(word(SPARES), lambda j: self._try_spare(index, j))
                    with b.if_then(self.same(self.get("out"), NULL)):
                        self._new_array(k, axes)
                    self.put(self.made, k, self.get("out"))
                    self.put(self.data, index, self.field(self.get("out"), DATA))

        self.loop(self.n_out, make)

    def _new_array(self, k: Any, axes: Any) -> None:
        """Into ``out``."""
        b = self.b
        self.call("incref", VOID, self.descr)
        new = self.call(
            "new_array", PTR, self.common("ndarray"), self.descr,
            b.trunc(axes, I32), self.shape, NULL, NULL, ir.Constant(I32, 0), NULL,
        )  # fmt: skip
        with b.if_then(self.same(new, NULL)):
            self.loop(k, self._drop)
            b.ret(NULL)
        self.set("out", new)

    def _try_spare(self, index: Any, j: Any) -> None:
        """Take a spare array that is in nobody's hands and as it was, if ``out`` has none yet."""
        b = self.b
        at = b.add(word(len(TABLE)), b.mul(index, word(PORT)))
        first = b.select(self.same(self.size, word(8)), word(0), word(SPARES))
        spare = self.item(self.table, b.add(b.add(at, word(2 + MAX_AXES)), b.add(first, j)))
        p_axes, _, p_shape = self.port(index)
        # the low half of a reference count holds in all versions of Python
        free = self.same(self.field(spare, 0, I32), ir.Constant(I32, 1))
        free = b.and_(free, self.same(self.get("out"), NULL))
        with b.if_then(free):
            flags = b.and_(self.field(spare, FLAGS, I32), ir.Constant(I32, OWNED))
            good = self.same(flags, ir.Constant(I32, OWNED))
            good = b.and_(good, self.same(self.field(spare, DESCR), self.descr))
            good = b.and_(good, self.same(self.field(spare, BASE), NULL))
            good = b.and_(good, self.same(self.field(spare, WEAK), NULL))
            good = b.and_(good, self.same(self.field(spare, AXES, I32), b.trunc(p_axes, I32)))
            with b.if_then(good):
                self.call("incref", VOID, spare)
                self.set("out", spare)
                self.loop(p_axes, lambda i: self._put_back_unless_same(i, spare, p_shape))

    def _put_back_unless_same(self, axis: Any, spare: Any, shape: Any) -> None:
        given = self.item(self.field(spare, SHAPE), axis, I64)
        changed = self.b.icmp_unsigned("!=", given, self.item(shape, axis, I64))
        still = self.b.icmp_unsigned("!=", self.get("out"), NULL)
        with self.b.if_then(self.b.and_(changed, still)):
            self.set("out", NULL)
            self.call("decref", VOID, spare)

    def _axis(self, index: Any, length: Any) -> None:
        self.put(self.shape, index, length, I64)

    def _drop(self, k: Any) -> None:
        made = self.item(self.made, k)
        with self.b.if_then(self.b.icmp_unsigned("!=", made, NULL)):
            self.call("decref", VOID, made)

    def give_back(self) -> None:
        """What was made: an array, a number, or a tuple."""
        b = self.b

        def scalar(k: Any) -> None:
            with b.if_then(self.same(self.item(self.made, k), NULL)):
                value = self.at(self.scalars, k, I64)
                made = self.call("new_scalar", PTR, value, self.descr, NULL)
                with b.if_then(self.same(made, NULL)):
                    self.loop(self.n_out, self._drop)
                    b.ret(NULL)
                self.put(self.made, k, made)

        self.loop(self.n_out, scalar)
        with b.if_then(self.same(self.n_out, word(1))):
            b.ret(self.item(self.made, 0))
        result = self.call("new_tuple", PTR, self.n_out)
        with b.if_then(self.same(result, NULL)):
            self.loop(self.n_out, self._drop)
            b.ret(NULL)
        self.loop(self.n_out, lambda k: self._fill(result, k))
        b.ret(result)

    def _fill(self, result: Any, k: Any) -> None:
        self.call("set_item", I32, result, k, self.item(self.made, k))
