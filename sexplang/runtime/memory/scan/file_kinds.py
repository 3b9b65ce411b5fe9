"""The detection of text files, by name and first bytes."""

_BINARY_NAMES = """
    7z a apk avi avif bin blend bmp bz2 class dat db deb dll dmg doc docx dylib egg elf eot exe
    fla flac gguf gif gz ico icns img iso jar jpeg jpg lib lz4 m4a m4v mid mkv mo mov mp3 mp4 mpeg
    npy npz o obj odp ods odt ogg onnx otf parquet pdf pickle pkl png ppt pptx psd pt pth pyc pyd
    pyo rar rpm safetensors so sqlite sqlite3 swf tar tgz tif tiff ttf war wasm wav webm webp whl
    wma wmv woff woff2 xls xlsx xz zip zst
"""
_BINARY = frozenset(_BINARY_NAMES.split())

_SIGNATURES = (
    b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"%PDF-", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b",
    b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd", b"\x7fELF", b"MZ\x90",
    b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe", b"\x00asm", b"SQLite format 3", b"OggS", b"fLaC",
    b"ID3", b"RIFF", b"GGUF", b"wOFF", b"wOF2", b"OTTO", b"!<arch>\n",
)  # fmt: skip

_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}

HEAD = 8192
"""Bytes checked for signs of a binary file."""

_CONTROLS = bytes(set(range(32)) - {7, 8, 9, 10, 11, 12, 13, 27})


def extension_of(name: str) -> str:
    """Return the lower-case extension of a name, or ""."""
    stem, dot, extension = name.rpartition(".")
    return extension.lower() if dot and stem else ""


def is_named_binary(name: str) -> bool:
    """Whether the name alone shows that a file is binary."""
    return extension_of(name) in _BINARY


def text_of(data: bytes) -> str | None:
    """Return the decoded text, or None for a binary file."""
    wide = _WIDE.get(data[:2])
    if wide is not None:
        return data[2:].decode(wide, "replace")
    head = data[:HEAD]
    if head.startswith(_SIGNATURES) or b"\0" in head:
        return None
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if controls * 20 > len(head):
        return None
    return data.decode("utf-8-sig", "replace")
