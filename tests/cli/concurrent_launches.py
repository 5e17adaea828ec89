# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dispatches of one concurrent encoder, by the C interface: LIBSMELT, PACKAGE and words that say what happens in turn: fill and
move dispatch, the others are calls of the encoder. Prints what was found, by dispatch."""

import ctypes
import sys

import smelt._pure.capi as capi
from smelt._pure.capi import _P, Handle, LoadOptions, check, loader

RACES = 3


def main(native, package, words):
    ctypes.CDLL(native, ctypes.RTLD_GLOBAL)  # that of the wheel, where this is one, is not needed
    of = loader()
    device = Handle(of, "device", lambda out: of.device_open(None, out))
    options = LoadOptions(checked=RACES)
    load = of.plain("library_load_file", ctypes.c_int32, _P, ctypes.c_char_p, ctypes.POINTER(LoadOptions), ctypes.POINTER(_P))
    library = Handle(of, "library", lambda out: load(device.pointer, package.encode(), options, out))
    calls = {name: of.plain("encoder_" + name, ctypes.c_int32, _P) for name in ("begin_concurrent", "barrier", "end_concurrent", "reset", "wait")}
    of_encoder = Handle(of, "encoder", lambda out: of.encoder_create(device.pointer, out))
    encoder = of_encoder.pointer
    x, y = (ctypes.c_uint32 * 64)(), (ctypes.c_uint32 * 64)()
    size = ctypes.sizeof(x)
    kept = []
    for word in words:
        if word in ("fill", "move"):
            function = Handle(of, "function", lambda out, word=word: of.library_get_function(library.pointer, word.encode(), len(word), out))
            pipeline = Handle(of, "pipeline", lambda out, function=function: of.function_get_pipeline(function.pointer, None, 0, out))
            kept += [function, pipeline]
            check(of.encoder_set_pipeline(encoder, pipeline.pointer))
            for index, memory in enumerate([x, y] if word == "move" else [x]):
                check(of.encoder_set_memory(encoder, index, ctypes.byref(memory), size))
            grid = (ctypes.c_uint64 * 3)(64, 1, 1)
            status = of.encoder_dispatch_threads(encoder, grid, 1, None)
            try:
                check(status)
                print(word)
            except Exception as error:
                print(word, str(error).replace("\n", " "))
        else:
            check(calls[word](encoder))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
