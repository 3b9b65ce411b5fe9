"""Text in other spellings: Base64, percent encoding, hashes. Bytes are those of UTF-8."""

from base64 import b64decode, b64encode
from binascii import Error
from hashlib import md5
from hashlib import sha256 as _sha256

from sexplang.primitives.sizes import STRING_POINTS, too_long
from sexplang.primitives.strings import content
from sexplang.terms.quota import charge, scan
from sexplang.terms.values.abbreviation import abbreviate
from sexplang.terms.values.value import Fault, Value


def to_base64(text: Value) -> Value:
    return _charge_text("base64-encode", b64encode(_bytes("base64-encode", text)).decode("ascii"))


def from_base64(given: Value) -> Value:
    name = "base64-decode"
    text = "".join(content(name, given).split())
    scan(len(text))
    standard = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        raw = b64decode(standard + "=" * (-len(standard) % 4), validate=True)
        return _charge_text(name, raw.decode("utf-8"))
    except Error as error:
        raise _bad(name, text, f"is no Base64: {error}") from None
    except UnicodeDecodeError:
        raise _bad(name, text, "holds bytes that are no UTF-8 text") from None


_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def to_percent(text: Value) -> Value:
    """Return the text as a part of an address: all but letters, digits and `-._~` as `%20`."""
    raw = _bytes("url-encode", text)
    if 3 * len(raw) > STRING_POINTS:
        raise too_long("url-encode", 3 * len(raw))
    return _charge_text("url-encode", "".join([_SPELLED[byte] for byte in raw]))


_SPELLED = [chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in range(256)]


def from_percent(given: Value) -> Value:
    name = "url-decode"
    text = content(name, given)
    scan(len(text))
    first, *parts = text.encode("utf-8").split(b"%")
    try:
        raw = first + b"".join([bytes.fromhex(part[:2].decode()) + part[2:] for part in parts])
        if any(len(part) < 2 or b" " in part[:2] for part in parts):
            raise ValueError
        return _charge_text(name, raw.decode("utf-8"))
    except UnicodeDecodeError:
        raise _bad(name, text, "holds bytes that are no UTF-8 text") from None
    except ValueError:
        raise _bad(name, text, "has a `%` without two digits behind it") from None


def sha256(text: Value) -> Value:
    return _sha256(_bytes("sha256", text)).hexdigest()


def md5_hash(text: Value) -> Value:
    return md5(_bytes("md5", text), usedforsecurity=False).hexdigest()


def _bytes(name: str, given: Value) -> bytes:
    text = content(name, given)
    scan(len(text))
    return text.encode("utf-8", "surrogatepass")


def _charge_text(name: str, text: str) -> str:
    if len(text) > STRING_POINTS:
        raise too_long(name, len(text))
    charge(len(text))
    return text


def _bad(name: str, text: str, why: str) -> Fault:
    return Fault("bad-encoding", f"`{name}`: {abbreviate(text)} {why}")
