# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompresses a zstd frame in pure Python (RFC 8878), if nothing else is available, at about 2 MB per second. It does not support dictionaries,
and ignores a frame's checksum, because callers check the SHA-256 of the result."""

from __future__ import annotations

from typing import Iterator, NoReturn

_LITERAL_LENGTHS = [(i, 0) for i in range(16)] + [
    (16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3), (40, 3), (48, 4), (64, 6), (128, 7), (256, 8), (512, 9), (1024, 10),
    (2048, 11), (4096, 12), (8192, 13), (16384, 14), (32768, 15), (65536, 16)]  # fmt: skip
_MATCH_LENGTHS = [(i + 3, 0) for i in range(32)] + [
    (35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4), (99, 5), (131, 7), (259, 8), (515, 9),
    (1027, 10), (2051, 11), (4099, 12), (8195, 13), (16387, 14), (32771, 15), (65539, 16)]  # fmt: skip
# By themselves: accuracy and probabilities of literal lengths, offsets, match lengths.
_DEFAULTS = (
    (6, [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1]),
    (5, [1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1]),
    (6, [1, 4, 3, 2, 2, 2, 2, 2, 2] + [1] * 37 + [-1] * 7),
)
_MOST_ACCURACY = (9, 8, 9)
_MOST_CODES = (36, 32, 53)
_MOST_BLOCK = 1 << 17

# A table of a finite-state code: for each state the symbol, bits to read, and what is added to them. And how many bits a first state has.
_Table = tuple[int, list[tuple[int, int, int]]]


class Damaged(ValueError):
    pass


def _bad(why: str) -> NoReturn:
    raise Damaged(why)


class _Backward:
    """Reads bits from the end of a stream to its beginning. Bits before the beginning are zeros."""

    def __init__(self, data: bytes) -> None:
        if not data or not data[-1]:
            _bad("a stream of bits has no end mark")
        self.data = bytes(8) + data
        self.at = 64 + 8 * (len(data) - 1) + data[-1].bit_length() - 1

    def read(self, count: int) -> int:
        self.at -= count
        if self.at < 0:
            _bad("a stream of bits is too short")
        byte = self.at >> 3
        return int.from_bytes(self.data[byte : byte + 8], "little") >> (self.at & 7) & ((1 << count) - 1)

    @property
    def left(self) -> int:
        return self.at - 64


def _build(accuracy: int, counts: list[int]) -> _Table:
    size = 1 << accuracy
    symbols = [0] * size
    following = [0] * len(counts)
    high = size
    for symbol, count in enumerate(counts):
        if count == -1:
            high -= 1
            symbols[high] = symbol
            following[symbol] = 1
    step, mask, place = (size >> 1) + (size >> 3) + 3, size - 1, 0
    for symbol, count in enumerate(counts):
        if count > 0:
            following[symbol] = count
            for _ in range(count):
                symbols[place] = symbol
                place = place + step & mask
                while place >= high:
                    place = place + step & mask
    if place:
        _bad("a table of probabilities does not add up")
    rows = []
    for symbol in symbols:
        state = following[symbol]
        following[symbol] += 1
        bits = accuracy - state.bit_length() + 1
        rows.append((symbol, bits, (state << bits) - size))
    return accuracy, rows


def _read_table(data: bytes, at: int, most_accuracy: int, most_codes: int) -> tuple[_Table, int]:
    """Read the description of a table, and return the table and the offset at which the description ends."""
    bits = int.from_bytes(data[at : at + 128], "little")
    size = 8 * len(data[at : at + 128])
    accuracy = (bits & 15) + 5
    if accuracy > most_accuracy:
        _bad("a table is too accurate")
    used, remaining = 4, 1 << accuracy
    counts: list[int] = []
    while remaining > 0 and len(counts) < most_codes:
        width = (remaining + 1).bit_length()
        value = bits >> used & ((1 << width) - 1)
        lower = (1 << width - 1) - 1
        threshold = (1 << width) - 2 - remaining
        if value & lower < threshold:
            used += width - 1
            value &= lower
        else:
            used += width
            if value > lower:
                value -= threshold
        count = value - 1
        remaining -= abs(count)
        counts.append(count)
        if count == 0:
            while True:
                repeat = bits >> used & 3
                used += 2
                counts += [0] * repeat
                if repeat != 3 or len(counts) > most_codes:
                    break
    if remaining or len(counts) > most_codes or used > size:
        _bad("a table's description does not add up")
    return _build(accuracy, counts), at + (used + 7) // 8


class _Huffman:
    def __init__(self, weights: list[int]) -> None:
        total = sum(1 << weight - 1 for weight in weights if weight)
        if not total:
            _bad("a Huffman code without symbols")
        self.bits = total.bit_length()
        rest = (1 << self.bits) - total
        if rest & rest - 1 or self.bits > 11:
            _bad("a Huffman code does not add up")
        weights = [*weights, rest.bit_length()]
        if len(weights) > 256:
            _bad("a Huffman code of more than 256 symbols")
        self.table: list[tuple[int, int]] = []
        for weight in range(1, self.bits + 1):
            for symbol, one in enumerate(weights):
                if one == weight:
                    self.table += [(symbol, self.bits + 1 - weight)] * (1 << weight - 1)
        if len(self.table) != 1 << self.bits:
            _bad("a Huffman code does not add up")

    def decode(self, data: bytes, count: int) -> bytes:
        stream = _Backward(data)
        raw, at, bits, table = stream.data, stream.at, self.bits, self.table
        out = bytearray(count)
        mask = (1 << bits) - 1
        for i in range(count):
            peek = at - bits
            byte = peek >> 3
            symbol, used = table[int.from_bytes(raw[byte : byte + 4], "little") >> (peek & 7) & mask]
            out[i] = symbol
            at -= used
            if at < 64:
                _bad("a stream of literals is too short")
        if at != 64:
            _bad("a stream of literals is too long")
        return bytes(out)


def _read_huffman(data: bytes, at: int) -> tuple[_Huffman, int]:
    if at >= len(data):
        _bad("no Huffman code")
    head = data[at]
    at += 1
    if head >= 128:
        count = head - 127
        packed = data[at : at + (count + 1) // 2]
        if len(packed) != (count + 1) // 2:
            _bad("a Huffman code is cut")
        return _Huffman([packed[i // 2] >> 4 if i % 2 == 0 else packed[i // 2] & 15 for i in range(count)]), at + len(packed)
    end = at + head
    if end > len(data):
        _bad("a Huffman code is cut")
    (accuracy, rows), begin = _read_table(data[:end], at, 6, 256)
    stream = _Backward(data[begin:end])
    states = [stream.read(accuracy), stream.read(accuracy)]
    if stream.left < 0:
        _bad("a Huffman code is cut")
    weights: list[int] = []
    turn = 0
    while len(weights) < 256:
        symbol, bits, base = rows[states[turn]]
        weights.append(symbol)
        if stream.left < bits:  # nothing more to read: the other state's symbol is the last
            weights.append(rows[states[1 - turn]][0])
            break
        states[turn] = base + stream.read(bits)
        turn = 1 - turn
    if len(weights) > 255 or max(weights) > 11:
        _bad("a Huffman code of more than 256 symbols")
    return _Huffman(weights), end


class _Frame:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.out = bytearray()
        self.huffman: _Huffman | None = None
        self.tables: list[_Table | None] = [None, None, None]
        self.offsets = [1, 4, 8]

    def block(self, block: bytes) -> None:
        literals, at = self.literals(block)
        self.sequences(block, at, literals)

    def literals(self, block: bytes) -> tuple[bytes, int]:
        if not block:
            _bad("an empty block")
        kind, form = block[0] & 3, block[0] >> 2 & 3
        if kind < 2:
            head = (1, 2, 1, 3)[form]
            size = int.from_bytes(block[:head], "little") >> (3 if head == 1 else 4)
            if len(block) < head or size > _MOST_BLOCK:
                _bad("literals that are cut")
            if kind == 1:
                if len(block) == head:
                    _bad("literals that are cut")
                return block[head : head + 1] * size, head + 1
            if len(block) < head + size:
                _bad("literals that are cut")
            return block[head : head + size], head + size
        head, width = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        value = int.from_bytes(block[:head], "little")
        size, packed = value >> 4 & (1 << width) - 1, value >> 4 + width & (1 << width) - 1
        end = head + packed
        if end > len(block) or size > _MOST_BLOCK:
            _bad("literals that are cut")
        at = head
        if kind == 2:
            self.huffman, at = _read_huffman(block[:end], at)
        if self.huffman is None:
            _bad("literals without a Huffman code")
        if form == 0:
            return self.huffman.decode(block[at:end], size), end
        if end - at < 6:
            _bad("literals that are cut")
        sizes = [int.from_bytes(block[at + 2 * i : at + 2 * i + 2], "little") for i in range(3)]
        at += 6
        each = (size + 3) // 4
        if at + sum(sizes) > end or each * 3 > size:
            _bad("literals that are cut")
        found = b""
        for part in sizes:
            found += self.huffman.decode(block[at : at + part], each)
            at += part
        return found + self.huffman.decode(block[at:end], size - 3 * each), end

    def sequences(self, block: bytes, at: int, literals: bytes) -> None:
        if at >= len(block):
            _bad("a block without sequences")
        count = block[at]
        at += 1
        if count >= 128:
            more = 2 if count == 255 else 1
            if at + more > len(block):
                _bad("a block that is cut")
            count = int.from_bytes(block[at : at + 2], "little") + 0x7F00 if more == 2 else (count - 128 << 8) + block[at]
            at += more
        out = self.out
        if not count:
            if at != len(block):
                _bad("bytes behind a block")
            out += literals
            return
        if at >= len(block) or block[at] & 3:
            _bad("tables of no known kind")
        modes = (block[at] >> 6, block[at] >> 4 & 3, block[at] >> 2 & 3)
        at += 1
        chosen: list[_Table] = []
        for i, mode in enumerate(modes):
            if mode == 0:
                self.tables[i] = _build(*_DEFAULTS[i])
            elif mode == 1:
                if at >= len(block) or block[at] >= _MOST_CODES[i]:
                    _bad("a table of one code that there is not")
                self.tables[i] = (0, [(block[at], 0, 0)])
                at += 1
            elif mode == 2:
                self.tables[i], at = _read_table(block, at, _MOST_ACCURACY[i], _MOST_CODES[i])
            table = self.tables[i]
            if table is None:
                _bad("a table that repeats none")
            chosen.append(table)
        (ll_bits, ll_rows), (of_bits, of_rows), (ml_bits, ml_rows) = chosen
        stream = _Backward(block[at:])
        read = stream.read
        start = len(out)
        ll, of, ml = read(ll_bits), read(of_bits), read(ml_bits)
        taken = 0
        for left in range(count - 1, -1, -1):
            ll_code, ll_more, ll_base = ll_rows[ll]
            of_code, of_more, of_base = of_rows[of]
            ml_code, ml_more, ml_base = ml_rows[ml]
            value = (1 << of_code) + read(of_code)
            base, more = _MATCH_LENGTHS[ml_code]
            length = base + read(more)
            base, more = _LITERAL_LENGTHS[ll_code]
            literal = base + read(more)
            if left:
                ll, ml, of = ll_base + read(ll_more), ml_base + read(ml_more), of_base + read(of_more)
            if stream.left < 0:
                _bad("a block's sequences are cut")
            out += literals[taken : taken + literal]
            taken += literal
            offset = self.offset(value, literal)
            begin = len(out) - offset
            if begin < 0 or taken > len(literals) or len(out) + length - start > _MOST_BLOCK:
                _bad("a sequence leads outside")
            if offset >= length:
                out += out[begin : begin + length]
            else:
                pattern = bytes(out[begin:])
                out += (pattern * (length // offset + 1))[:length]
        if stream.left:
            _bad("bits behind a block's sequences")
        out += literals[taken:]

    def offset(self, value: int, literal: int) -> int:
        known = self.offsets
        if value > 3:
            known[:] = [value - 3, known[0], known[1]]
            return value - 3
        index = value - (literal != 0)
        if index == 0:
            return known[0]
        offset = known[index] if index < 3 else known[0] - 1
        if offset <= 0:
            _bad("an offset of nothing")
        known[:] = [offset, known[0], known[1] if index > 1 else known[2]]
        return offset


def pieces(data: bytes) -> Iterator[bytes]:
    """Decompress one frame, block by block. Raise Damaged if the data is not a frame."""
    if len(data) < 6 or data[:4] != b"\x28\xb5\x2f\xfd":
        _bad("no frame")
    descriptor = data[4]
    single = descriptor >> 5 & 1
    if descriptor & 8 or descriptor & 3:
        _bad("a frame with a dictionary, or of a later format")
    at = 5 + (0 if single else 1) + ((1 if single else 0), 2, 4, 8)[descriptor >> 6]
    frame = _Frame(data)
    last = 0
    while not last:
        head = int.from_bytes(data[at : at + 3], "little")
        if at + 3 > len(data):
            _bad("a frame that is cut")
        last, kind, length = head & 1, head >> 1 & 3, head >> 3
        at += 3
        stored = 1 if kind == 1 else length
        block = data[at : at + stored]
        if len(block) != stored or kind == 3 or length > _MOST_BLOCK:
            _bad("a block that is cut, or of no known kind")
        at += stored
        before = len(frame.out)
        if kind == 2:
            frame.block(block)
        else:
            frame.out += block * length if kind == 1 else block
        yield bytes(frame.out[before:])
    if at + (4 if descriptor & 4 else 0) != len(data):
        _bad("bytes behind the frame")


def decompress(data: bytes, size: int) -> bytes:
    """Decompress one frame of exactly `size` bytes. Raise Damaged if the data is not such a frame."""
    found = bytearray()
    for piece in pieces(data):
        found += piece
        if len(found) > size:
            _bad("more than was announced")
    if len(found) != size:
        _bad("less than was announced")
    return bytes(found)
