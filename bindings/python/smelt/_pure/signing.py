# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decides which entries and packages may be used, by who made them (docs/formats/signing.md), as signing::Policy does. No CPU code runs here, so
without a trusted signature, either the Metal libraries may be used, or nothing."""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from typing import NamedTuple

from . import ed25519
from .files import fail, text

LEVELS = ("any", "local", "signed")
_NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}\Z")
_MOST_KEYS = 1 << 20


class PublicKey(NamedTuple):
    name: str
    bytes: bytes

    def __str__(self) -> str:
        return f"{self.name}:{base64.b64encode(self.bytes).decode()}"


def _decode(word: str, what: str, size: int) -> tuple[str, bytes]:
    name, colon, encoded = word.partition(":")
    if not colon or not _NAME.match(name):
        got = f"'{word[:80]}'" if word else "nothing"
        fail("invalid_argument", f"{what}: want NAME:BASE64 with a name of 1 to 64 letters, digits and ._@-; got {got}")
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        data = b""
    # One value has one spelling.
    if len(data) != size or base64.b64encode(data).decode() != encoded:
        fail("invalid_argument", f"{what} '{name}': want {-(-size // 3) * 4} characters of base64 after the name, for {size} bytes; got {len(encoded)}")
    return name, data


def parse_public_key(word: str) -> PublicKey:
    if word.startswith("secret:"):
        fail("invalid_argument", "this is a secret key, which must not be handed out; 'smelt key show' prints the public key that goes with it")
    name, data = _decode(word, "public key", 32)
    why = ed25519.why_no_key(data)
    if why:
        fail("invalid_argument", f"public key '{name}': {why}")
    return PublicKey(name, data)


def _keys_of_file(path: str) -> list[PublicKey]:
    """Read the keys of a file, one per line; '#' begins a comment. Other users must not be able to write to the file, because it decides whose code is used."""
    try:
        with open(path, "rb") as file:
            facts = os.fstat(file.fileno())
            if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                fail("untrusted", f"{path}: others may write to this list of trusted keys (mode {stat.S_IMODE(facts.st_mode):o}); chmod go-w it")
            if hasattr(os, "geteuid") and facts.st_uid not in (os.geteuid(), 0):
                fail("untrusted", f"{path}: belongs to user {facts.st_uid}, this is user {os.geteuid()}; it would decide whose code runs as you")
            data = file.read(_MOST_KEYS + 1)
    except FileNotFoundError:
        fail("file_not_found", f"{path}: No such file or directory", path)
    except OSError as error:
        fail("io", f"{path}: {error.strerror}", path)
    if len(data) > _MOST_KEYS:
        fail("invalid_argument", f"{path}: more than 1 MiB of keys")
    lines = text(data, path).split("\n")
    return [parse_public_key(word) for line in lines for word in line.partition("#")[0].split()]


def _keys_of_words(words: str) -> list[PublicKey]:
    found: list[PublicKey] = []
    for word in words.split():
        name, colon, _ = word.partition(":")
        if "/" in name or not colon:
            found += _keys_of_file(word)
        else:
            found.append(parse_public_key(word))
    return found


def _users_file() -> str:
    if os.path.isabs(os.environ.get("XDG_CONFIG_HOME", "")):
        return os.path.join(os.environ["XDG_CONFIG_HOME"], "smelt", "trusted-keys")
    if os.path.isabs(os.environ.get("HOME", "")):
        return os.path.join(os.environ["HOME"], ".config", "smelt", "trusted-keys")
    return ""


def parse_level(word: str, where: str = "") -> str:
    if word not in LEVELS:
        fail("invalid_argument", f"{where}trust '{word}': want any, local or signed")
    return word


class Source(NamedTuple):
    """One of the sources from which an entry was made."""

    is_file: bool
    origin: str  # of a remote
    by: PublicKey | None
    remade: bool


class Provenance(NamedTuple):
    unknown: bool
    sources: tuple[Source, ...]  # none: made here
    signatures: tuple[str, ...] = ()

    @staticmethod
    def parse(lines: str) -> Provenance:
        """Parse the part .origin of an entry. The provenance is unknown if smelt's store did not write it."""
        unknown = made_here = False
        sources: list[Source] = []
        signatures: list[str] = []
        for line in lines.split("\n"):
            name, _, value = line.partition(" ")
            if name == "made-here":
                made_here = True
            elif name == "unknown":
                unknown = True
            elif name == "signed":
                signatures.append(value)
            elif name in ("from", "file"):
                sources.append(Source(name == "file", value, None, False))
            elif sources and name == "remade":
                sources[-1] = sources[-1]._replace(remade=True)
            elif sources and name == "by" and value:
                try:
                    sources[-1] = sources[-1]._replace(by=parse_public_key(value))
                except RuntimeError:
                    pass
        return Provenance(unknown or (not made_here and not sources), tuple(sources), tuple(signatures))


class Policy:
    def __init__(self, level: str, keys: list[PublicKey], takes_unsigned: bool = True) -> None:
        self.level = level
        self.keys = keys
        self.takes_unsigned = takes_unsigned

    @staticmethod
    def from_environment(level: str | None = None, trusted_keys: str = "", needs_keys: bool = True) -> Policy:
        """Return the policy of SMELT_TRUST, SMELT_TRUSTED_KEYS and the user's key file.

        Args:
            level: replaces SMELT_TRUST.
            trusted_keys: more trusted keys.
            needs_keys: False reads the keys of the environment only if the level is "signed".

        Raises:
            ArgumentError: a setting is invalid.
        """
        if level is None:
            level = parse_level(os.environ.get("SMELT_TRUST") or "local", "SMELT_TRUST: ")
        takes_unsigned = not os.environ.get("SMELT_SIGNING_KEY") or os.environ.get("SMELT_TAKE_UNSIGNED") == "1"
        keys: list[PublicKey] = []
        if needs_keys or level == "signed":
            keys = _keys_of_words(os.environ.get("SMELT_TRUSTED_KEYS", ""))
            users = _users_file()
            if users and os.path.exists(users):
                keys += _keys_of_file(users)
        return Policy(level, keys + _keys_of_words(trusted_keys), takes_unsigned)

    def signer(self, statement: bytes, signatures: tuple[str, ...] | list[str]) -> PublicKey | None:
        """Return the trusted key that made one of these signatures of the statement, or None."""
        for one in signatures:
            try:
                name, data = _decode(one, "signature", 64)
            except RuntimeError:
                continue
            for key in self.keys:
                if key.name == name and ed25519.verify(key.bytes, statement, data):
                    return key
        return None

    def allows_file(self, is_signed: bool) -> bool:
        """Return whether to accept a package that the user names."""
        return is_signed or self.level != "signed"

    def _use_of(self, source: Source) -> str:
        is_signed = source.by is not None and source.by in self.keys
        if source.is_file:
            return "yes" if self.allows_file(is_signed) else "no"
        if is_signed:
            return "yes"
        if self.level == "signed" or not self.takes_unsigned:
            return "no"
        return "yes" if self.level == "any" or source.remade else "metal_only"

    def use(self, origin: Provenance) -> str:
        """Return whether an entry of this origin may be used: "yes", "metal_only" or "no"."""
        if origin.unknown and (self.level == "signed" or not self.takes_unsigned):
            return "no"
        order = ("no", "metal_only", "yes")
        return order[min([2, *(order.index(self._use_of(source)) for source in origin.sources)])]

    def explain(self, signatures: tuple[str, ...] | list[str]) -> str:
        signers = ", ".join(one.partition(":")[0][:64] for one in signatures)
        who = f"signed by {signers}" if signers else "nobody signed it"
        whom = "trusted are " + ", ".join(key.name for key in self.keys) if self.keys else "no key is trusted"
        where = "Put the signer's public key into SMELT_TRUSTED_KEYS or ~/.config/smelt/trusted-keys, or set"
        if not self.takes_unsigned:
            return f"{who}, {whom}, and a machine that signs (SMELT_SIGNING_KEY) takes nothing else. {where} SMELT_TAKE_UNSIGNED=1"
        return f"{who}, {whom} (trust is {self.level}). {where} SMELT_TRUST=any where only you can write"

    def explain_origin(self, origin: Provenance) -> str:
        if not origin.sources:
            return f"an older smelt kept it, and did not say where it came from (trust is {self.level})"
        order = ("no", "metal_only", "yes")
        worst = min(origin.sources, key=lambda source: order.index(self._use_of(source)))
        signatures = origin.signatures or ((str(worst.by),) if worst.by else ())
        return f"it came from {'a package' if worst.is_file else worst.origin}: {self.explain(signatures)}"
