# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rival: what Triton's RedisRemoteCacheBackend and RemoteCacheManager do for a group of files, for N groups read from
a folder (KEY/FILE each): MGET per group, then each file written below the cache folder. Prints milliseconds.

    triton_redis.py PORT FOLDER
"""

import os
import sys
import tempfile
import time

import redis


def main():
    port, folder = int(sys.argv[1]), sys.argv[2]
    server = redis.Redis(host="localhost", port=port)
    groups = {key: sorted(os.listdir(os.path.join(folder, key))) for key in sorted(os.listdir(folder))}
    for key, names in groups.items():
        for name in names:
            with open(os.path.join(folder, key, name), "rb") as file:
                server.set(f"triton:{key}:{name}", file.read())
    server.close()
    server = redis.Redis(host="localhost", port=port)
    with tempfile.TemporaryDirectory() as out:
        began = time.perf_counter()
        for key, names in groups.items():
            os.makedirs(os.path.join(out, key), exist_ok=True)
            for name, data in zip(names, server.mget([f"triton:{key}:{name}" for name in names])):
                temporary = os.path.join(out, key, f"tmp.{name}")
                with open(temporary, "wb") as file:
                    file.write(data)
                os.replace(temporary, os.path.join(out, key, name))
        print((time.perf_counter() - began) * 1e3)


main()
