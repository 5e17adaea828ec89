# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dispatches of one concurrent encoder, by the C interface: LIBSMELT, PACKAGE and words that say what happens in turn: fill and
move dispatch, the others are calls of the encoder. Prints what was found, by dispatch."""

import ctypes as c
import sys

RACES = 3
P = c.c_void_p


class LoadOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("verify", c.c_int32), ("allow_empty", c.c_int32), ("force_metal", c.c_uint16 * 2), ("expect", c.c_char_p),
                ("library", c.c_char_p), ("library_length", c.c_size_t), ("checked", c.c_int32), ("allow_no_code", c.c_int32)]  # fmt: skip


class ErrorInfo(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("code", c.c_int32), ("message", P), ("message_length", c.c_size_t)]


def main(native, package, words):
    library = c.CDLL(native)

    def call(name, *arguments):
        """None, or what the library says of a failure."""
        if not getattr(library, "smelt_" + name)(*arguments):
            return None
        info = ErrorInfo(c.sizeof(ErrorInfo))
        library.smelt_last_error(c.byref(info))
        return c.string_at(info.message, info.message_length).decode().replace("\n", " ")

    def made(name, *arguments):
        out = P()
        trouble = call(name, *arguments, c.byref(out))
        if trouble:
            sys.exit(trouble)
        return out

    device = made("device_open", None)
    options = LoadOptions(struct_size=c.sizeof(LoadOptions), checked=RACES)
    loaded = made("library_load_file", device, package.encode(), c.byref(options))
    encoder = made("encoder_create", device)
    x, y = (c.c_uint32 * 64)(), (c.c_uint32 * 64)()
    for word in words:
        if word not in ("fill", "move"):
            trouble = call("encoder_" + word, encoder)
            if trouble:
                sys.exit(trouble)
            continue
        function = made("library_get_function", loaded, word.encode(), c.c_size_t(len(word)))
        pipeline = made("function_get_pipeline", function, None, c.c_size_t(0))
        trouble = call("encoder_set_pipeline", encoder, pipeline)
        for index, memory in enumerate([x, y] if word == "move" else [x]):
            trouble = trouble or call("encoder_set_memory", encoder, c.c_uint32(index), c.byref(memory), c.c_size_t(c.sizeof(memory)))
        if trouble:
            sys.exit(trouble)
        print(word, call("encoder_dispatch_threads", encoder, (c.c_uint64 * 3)(64, 1, 1), c.c_size_t(1), None) or "")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
