"""The kernel of a function called for one block of rows after the other, and checks of results.

Results of bound methods are checked. Those of a batch are checked block by block, by the threads
that computed them, while they are still in the caches of their cores. Results that are too large
for the caches are computed into memory that stays in them, and stored from there past the caches,
so that no line of memory is read before it is overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator

from robodyn.codegen.llvm.builder.code import Code
from robodyn.codegen.llvm.builder.values import Number
from robodyn.codegen.vectorcall.table import MAX_PORTS

#: Numbers checked together.
LANES = 8

#: Number of vectors checked between two branches.
TOGETHER = 4

#: Bits of infinity.
INFINITY = {"double": 0x7FF << 52, "float": 0xFF << 23}


def look_function(dtype: str) -> Code:
    """``i1 look_double(start, count)``: some number is not finite.

    Numbers are looked at as integers, since it has to be known soon after the last one was
    written. A number without its sign is finite below the bits of infinity.
    """
    look = _Look(dtype)
    code, count, many = look.code, look.code.argument("count", "i64"), LANES * TOGETHER
    for k in code.each(count / many):
        look.vectors(k * many, TOGETHER)
    for n in (2, 1):
        with code.when((count & (LANES * n)).differs(0)):
            look.vectors(count & (-2 * LANES * n), n)
    for rest in (4, 2, 1):
        with code.when((count & rest).differs(0)):
            first = count & (-2 * rest)
            for j in range(rest):
                look.go_on_if_finite(look.beyond(first + j, look.bits))
    code.give(Number(code, "false", "i1"))
    code.begin(look.flawed)
    code.give(Number(code, "true", "i1"))
    return code


class _Look:
    """The checking function, while it is written."""

    def __init__(self, dtype: str) -> None:
        self.code = Code(f"@look_{dtype}(ptr %start, i64 %count)", "internal i1")
        self.bits = "i64" if dtype == "double" else "i32"
        self.flawed = self.code.label("flawed")
        self._limit = str(2 * INFINITY[dtype])

    def beyond(self, index: Number, kind: str) -> str:
        """Whether the numbers from an index on are not finite."""
        limit = self._limit
        if kind != self.bits:
            limit = f"<{', '.join([f'{self.bits} {limit}'] * LANES)}>"
        at = self.code.at("%start", index, self.bits)
        x = self.code.name(f"load {kind}, ptr {at}, align 4")
        twice = self.code.name(f"add {kind} {x}, {x}")
        return self.code.name(f"icmp uge {kind} {twice}, {limit}")

    def vectors(self, first: Number, n: int) -> None:
        """Check some vectors."""
        kind, flags = f"<{LANES} x {self.bits}>", f"<{LANES} x i1>"
        some = self.beyond(first, kind)
        for k in range(1, n):
            other = self.beyond(first + LANES * k, kind)
            some = self.code.name(f"or {flags} {some}, {other}")
        signs = self.code.put(f"bitcast {flags} {some} to i{LANES}", f"i{LANES}")
        self.go_on_if_finite(signs.differs(0))

    def go_on_if_finite(self, some: object) -> None:
        """End the function unless all numbers are finite."""
        following = self.code.label("on")
        self.code.branch(some, self.flawed, following, expected=False)
        self.code.begin(following)


#: What ``blocks`` finds behind the addresses of the arrays: the kernel, where to note that some
#: result is not finite (null: nobody looks), the index of the first result, how many there are, and
#: whether to store them past the caches.
HIDDEN = {
    name: MAX_PORTS + k for k, name in enumerate(("kernel", "flaw", "first", "count", "stream"))
}

#: Largest number of rows in a block, and the number that rows of long blocks are a multiple of, for
#: the vectors of all CPUs; and numbers of results in a block of many rows.
ROWS, FEWEST, NUMBERS = 128, 16, 8192

#: Bytes of a line of the cache, and of the results of two blocks that are first computed in cache.
LINE, STAGED = 64, 1 << 20


def stream_function(dtype: str) -> Code:
    """``i1 stream_double(to, from, count)``: copy numbers by non-temporal stores where possible.

    What begins or ends within a line of the cache is stored the ordinary way. Returns whether some
    number is not finite, see `look_function`.
    """
    size, bits = (8, "i64") if dtype == "double" else (4, "i32")
    code = Code(f"@stream_{dtype}(ptr %to, ptr %from, i64 %count)", "internal i1")
    address, count = code.put("ptrtoint ptr %to to i64", "i64"), code.argument("count", "i64")
    before = (-address & (LINE - 1)) / size
    before = code.choose(before < count, before, count)
    lines = (count - before) * size / LINE
    after = before + lines * (LINE // size)
    look, source = f"@look_{dtype}", Number(code, "%from", "ptr")
    rest = Number(code, code.at("%from", after, bits), "ptr")
    flawed = code.call(look, "i1", source, before) | code.call(look, "i1", rest, count - after)
    for first, end in ((0, before), (after, count)):
        for k in code.each(end, start=first):
            code.store(code.load("%from", k, bits), "%to", k, bits)
    flawed = flawed | _copy_lines(code, bits, before, lines)
    code.give(flawed)
    return code


def _copy_lines(code: Code, bits: str, first: Number, lines: Number) -> Number:
    """Copy whole lines of numbers; whether some number is not finite."""
    lanes = LINE // (8 if bits == "i64" else 4)
    kind, limit = f"<{lanes} x {bits}>", 2 * INFINITY["double" if bits == "i64" else "float"]
    source, target = (code.at(x, first, bits) for x in ("%from", "%to"))
    code.declare("!2 = !{i32 1}")
    most, most_function = code.slot(kind), f"{kind} @llvm.umax.v{lanes}{bits}"
    code.declare(f"declare {most_function}({kind}, {kind})")
    code.do(f"store {kind} zeroinitializer, ptr {most}")
    for k in code.each(lines):
        x = code.name(f"load {kind}, ptr {code.at(source, k, kind)}, align 4")
        code.do(f"store {kind} {x}, ptr {code.at(target, k, kind)}, align {LINE}, !nontemporal !2")
        twice, before = code.name(f"add {kind} {x}, {x}"), code.name(f"load {kind}, ptr {most}")
        both = f"{kind} {before}, {kind} {twice}"
        code.do(f"store {kind} {code.name(f'call {most_function}({both})')}, ptr {most}")
    limits = ", ".join([f"{bits} {limit}"] * lanes)
    found = code.name(f"load {kind}, ptr {most}")
    beyond = code.name(f"icmp uge {kind} {found}, <{limits}>")
    return code.put(f"bitcast <{lanes} x i1> {beyond} to i{lanes}", f"i{lanes}").differs(0)


def blocks_function(dtype: str) -> Code:
    """``blocks_double``, a kernel of many rows: calls another one for a block at a time."""
    return _Blocks(dtype).code


class _Blocks:
    """The kernel, while it is written."""

    def __init__(self, dtype: str) -> None:
        head = f"@blocks_{dtype}(i64 %begin, i64 %end, ptr %data, ptr %strides)"
        self.code = code = Code(head, "internal void")
        self._dtype, self._bytes = dtype, 8 if dtype == "double" else 4
        self._data, self._strides = code.argument("data", "ptr"), code.argument("strides", "ptr")
        self._kernel, self._flaw = (self._hidden(name, "ptr") for name in ("kernel", "flaw"))
        self._n_in = self._hidden("first", "i64")
        self._n = self._n_in + self._hidden("count", "i64")
        #: Where the numbers of each array would be in row 0, for the kernel.
        self._moved = code.slot(f"[{MAX_PORTS} x ptr]")
        for j in code.each(self._n):
            code.store(self._array(j), self._moved, j, "ptr")
        row = self._numbers_in_row()
        most = NUMBERS / code.choose(row > 1, row, 1) & -FEWEST
        most = code.choose(most < ROWS, code.choose(most > FEWEST, most, FEWEST), ROWS)
        room = self._room(row, most)
        self._each_block(most, room)
        with code.when(room.differs(None)):
            code.do("fence seq_cst")  # another thread may read what was stored past the caches
            code.declare("declare void @robodyn_free(ptr)")
            code.call("@robodyn_free", "void", room)

    def _hidden(self, name: str, kind: str) -> Number:
        return self.code.load(self._data, HIDDEN[name], kind)

    def _array(self, j: Number) -> Number:
        return self.code.load(self._data, j, "ptr")

    def _stride(self, j: Number) -> Number:
        return self.code.load(self._strides, j, "i64")

    def _at(self, start: object, offset: Number) -> Number:
        return Number(self.code, self.code.at(start, offset, self._dtype), "ptr")

    def _numbers_in_row(self) -> Number:
        """Numbers of all results in a row."""
        count = self.code.variable(0)
        for j in self.code.each(self._n, start=self._n_in):
            count.value = count.value + self._stride(j)
        return count.value

    def _room(self, row: Number, most: Number) -> Number:
        """Memory for the results of a block, of up to two times as many rows; null for none."""
        code, room = self.code, self.code.variable(None)
        size = row * most * (2 * self._bytes) + (MAX_PORTS + 1) * LINE
        wanted = self._hidden("stream", "i64").differs(0)
        with code.when(wanted & (size <= STAGED), expected=False):
            code.declare("declare ptr @robodyn_malloc(i64)")
            room.value = code.call("@robodyn_malloc", "ptr", size)
        return room.value

    def _each_block(self, most: Number, room: Number) -> None:
        code, streamed = self.code, room.differs(None)
        begin, end = code.argument("begin", "i64"), code.argument("end", "i64")
        blocks = (end - begin) / most
        blocks = code.choose(blocks > 1, blocks, 1)
        for k in code.each(blocks):
            first = begin + k * most
            # the last block has what is left, so that none is shorter than a vector
            following = code.choose(k.equals(blocks - 1), end, first + most)
            rows = following - first
            with code.when(streamed, expected=False):
                for j, place in self._places(room, rows):
                    start = self._at(place, -first * self._stride(j))
                    code.store(start, self._moved, j, "ptr")
            moved = Number(code, self._moved, "ptr")
            code.call(self._kernel, "void", first, following, moved, self._strides)
            with code.either(streamed) as (past, into):
                with past:
                    for j, place in self._places(room, rows):
                        to = self._at(self._array(j), first * self._stride(j))
                        count = rows * self._stride(j)
                        self._note(code.call(f"@stream_{self._dtype}", "i1", to, place, count))
                with into:
                    self._look(first, rows)

    def _places(self, room: Number, rows: Number) -> Iterator[tuple[Number, Number]]:
        """Each result and the address at which it is computed, aligned to a cache line."""
        code, place = self.code, self.code.variable(room)
        for j in code.each(self._n, start=self._n_in):
            address = code.put(f"ptrtoint ptr {place.value} to i64", "i64")
            own = Number(code, code.at(place.value, -address & (LINE - 1), "i8"), "ptr")
            yield j, own
            place.value = self._at(own, rows * self._stride(j))

    def _look(self, first: Number, rows: Number) -> None:
        """Note whether some result of a block is not finite."""
        code = self.code
        with code.when(self._flaw.differs(None)):
            for j in code.each(self._n, start=self._n_in):
                count = self._stride(j)
                at = self._at(self._array(j), first * count)
                self._note(code.call(f"@look_{self._dtype}", "i1", at, rows * count))

    def _note(self, flawed: Number) -> None:
        with self.code.when(flawed & self._flaw.differs(None), expected=False):
            self.code.store(1, self._flaw, 0, "i64")
