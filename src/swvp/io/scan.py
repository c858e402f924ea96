"""The kernels that read and write tables: bytes to fields, fields to numbers, and back with no other byte changed.

A table is a text of lines. The line of a token has `width` fields; an empty line ends a sentence. Positions are those
of bytes in UTF-8.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel

__all__ = ["BAD_ID", "BAD_WIDTH", "FINE", "intern", "scan", "splice"]

FINE, BAD_WIDTH, BAD_ID = range(3)
TAB, NEWLINE, RETURN, SPACE, DASH, DOT, ZERO, NINE = 9, 10, 13, 32, 45, 46, 48, 57
FREE = -1


@kernel
def scan(content, width, by_tabs, token_ids, skipped, fields, lines, offsets):
    """Write (begin, end) of the fields of each token, the line of each token, and where each sentence begins.

    Fields are between single tabs, or between runs of blanks. Lines that begin with `skipped` hold no token. With
    `token_ids` the first field is an ID, and tokens with an ID such as 1-2 or 1.1 are skipped. Returns (FINE, BAD_WIDTH
    or BAD_ID, tokens, sentences, line, number of fields on that line).
    """
    tokens, sentences, at, line = 0, 0, 0, 0
    offsets[0] = 0
    size = len(content)
    while at < size:
        line += 1
        begin = at
        while at < size and content[at] != NEWLINE:
            at += 1
        end = at
        at += 1
        while end > begin and content[end - 1] == RETURN:
            end -= 1
        first = begin
        while first < end and (content[first] == SPACE or content[first] == TAB):
            first += 1
        blank = first
        while blank < end and (content[blank] == SPACE or content[blank] == TAB or content[blank] == RETURN):
            blank += 1
        if blank == end:
            if tokens > offsets[sentences]:
                sentences += 1
                offsets[sentences] = tokens
            continue
        if starts_with(content, begin, end, skipped):
            continue
        count, p = 0, begin if by_tabs else first
        while p <= end:
            q = p
            while q < end and content[q] != TAB and (by_tabs or content[q] != SPACE):
                q += 1
            if count < width:
                fields[tokens, count, 0] = p
                fields[tokens, count, 1] = q
            count += 1
            p = q + 1
            if not by_tabs:
                while p < end and (content[p] == SPACE or content[p] == TAB):
                    p += 1
                if p >= end:
                    break
        if count != width:
            return BAD_WIDTH, tokens, sentences, line, count
        if token_ids:
            whole, digits = True, True
            for b in range(fields[tokens, 0, 0], fields[tokens, 0, 1]):
                part = content[b] == DASH or content[b] == DOT
                whole = whole and not part
                digits = digits and (part or (content[b] >= ZERO and content[b] <= NINE))
            if not digits or fields[tokens, 0, 0] == fields[tokens, 0, 1]:
                return BAD_ID, tokens, sentences, line, count
            if not whole:
                continue
        lines[tokens] = line
        tokens += 1
    if tokens > offsets[sentences]:
        sentences += 1
        offsets[sentences] = tokens
    return FINE, tokens, sentences, line, 0


@kernel
def starts_with(content, begin, end, prefix):
    """Return whether the bytes from begin to end start with `prefix`."""
    if end - begin < len(prefix):
        return False
    for k in range(len(prefix)):
        if content[begin + k] != prefix[k]:
            return False
    return True


@kernel
def intern(content, fields, column, ids):
    """Write for each token the number of its string in a column; strings are numbered by their first occurrence.

    Returns for each distinct string the token where it occurs first.
    """
    tokens = len(fields)
    first = np.empty(tokens, np.int64)
    hashes = np.empty(tokens, np.uint64)
    table = np.full(1024, FREE, np.int32)
    count = 0
    for token in range(tokens):
        begin, end = fields[token, column, 0], fields[token, column, 1]
        mixed = np.uint64(14695981039346656037)
        for b in range(begin, end):
            mixed = (mixed ^ np.uint64(content[b])) * np.uint64(1099511628211)
        mixed ^= mixed >> np.uint64(32)
        mask = np.uint64(len(table) - 1)
        place = mixed & mask
        while table[place] != FREE:
            number = table[place]
            if hashes[number] == mixed and same(content, fields, column, first[number], begin, end):
                break
            place = (place + np.uint64(1)) & mask
        if table[place] == FREE:
            table[place] = count
            first[count], hashes[count] = token, mixed
            count += 1
            if 2 * count > len(table):
                table = np.full(4 * len(table), FREE, np.int32)
                mask = np.uint64(len(table) - 1)
                for number in range(count):
                    place = hashes[number] & mask
                    while table[place] != FREE:
                        place = (place + np.uint64(1)) & mask
                    table[place] = number
            ids[token] = count - 1
        else:
            ids[token] = table[place]
    return first[:count].copy()


@kernel
def same(content, fields, column, token, begin, end):
    """Return whether the string of a token in a column equals the bytes from begin to end."""
    start = fields[token, column, 0]
    if fields[token, column, 1] - start != end - begin:
        return False
    for k in range(end - begin):
        if content[start + k] != content[begin + k]:
            return False
    return True


@kernel
def splice(content, begins, ends, pieces, piece_starts, which, out):
    """Copy `content` into `out`, with begins[t]:ends[t] replaced by piece which[t], for every t in order.

    With an empty `out` nothing is written. Returns the number of bytes of the result.
    """
    writing = len(out) > 0
    at, written = 0, 0
    for t in range(len(which)):
        first, last = piece_starts[which[t]], piece_starts[which[t] + 1]
        if writing:
            for b in range(at, begins[t]):
                out[written + b - at] = content[b]
            for b in range(first, last):
                out[written + begins[t] - at + b - first] = pieces[b]
        written += begins[t] - at + last - first
        at = ends[t]
    if writing:
        for b in range(at, len(content)):
            out[written + b - at] = content[b]
    return written + len(content) - at
