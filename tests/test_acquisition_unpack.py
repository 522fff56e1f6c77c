"""Archives from elsewhere: told by their bytes, bounded, nothing outside the folder."""

import bz2
import gzip
import io
import os
import tarfile
import zipfile

import pytest
from paper2code import cli
from paper2code.acquire import forms, unpack
from paper2code.acquire.unpack import Limits
from standin import lone, pdf, targz, tex

SMALL = Limits(total=1 << 20, each=1 << 19, members=100, free=1 << 16, depth=4)


def members(*parts: tuple[str, bytes, dict]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data, more in parts:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            for key, value in more.items():
                setattr(member, key, value)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def opened(tmp_path, data: bytes, limits: Limits = SMALL, name: str = "source"):
    (tmp_path / "raw").mkdir(exist_ok=True)
    (tmp_path / "raw" / name).write_bytes(data)
    return unpack.unpack(tmp_path / "raw" / name, tmp_path / "raw" / "out", limits)


def files_of(folder) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def plain_tar(files: dict[str, bytes], format=tarfile.USTAR_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("tar.gz", targz({"main.tex": b"x"})),
        ("tar", plain_tar({"main.tex": b"x"})),
        ("tex.gz", lone(tex())),
        ("latex", tex().encode()),
        ("zip", zipped({"main.tex": b"x"})),
        ("pdf", pdf(1)),
        ("html", b"<!DOCTYPE html><html></html>"),
        ("empty", b""),
        ("empty", b"\0\n  "),
        ("html", b"\xef\xbb\xbf  <html lang='en'>"),
        ("text", b"A plain text about a thing.\n"),
        ("latex", b"%auto-ignore\nThis paper has been withdrawn"),
        ("latex", "% !TEX\n\\documentstyle[12pt]{article}\n\\title{Caf\xe9}".encode("latin-1")),
        ("unknown", b"\x89PNG\r\n\x1a\n" + b"\0" * 40),
        ("pdf.gz", gzip.compress(pdf(1))),
        ("html.gz", gzip.compress(b"<html></html>")),
        ("unknown", bz2.compress(b"x" * 100)),
        ("unknown", os.urandom(3000)),
        ("unknown", b"\x1f\x8b" + b"\xff" * 50),
        ("text", "Ein Text über Maße.".encode("utf-16")),
    ],
)
def test_forms_are_told_by_bytes(tmp_path, form, data):
    path = tmp_path / "paper.dat"
    path.write_bytes(data)
    assert unpack.form(path) == form


def test_an_old_tar_without_magic_is_known():
    data = bytearray(plain_tar({"main.tex": b"x"}))
    data[257:265] = b"\0" * 8
    data[148:156] = b"        "
    data[148:156] = b"%06o\0 " % sum(data[:512])
    assert forms.tell(bytes(data)) == forms.TAR


@pytest.mark.parametrize("data", [targz({"main.tex": b"A", "figs/a.tex": b"B"}), plain_tar({"main.tex": b"A", "./figs/a.tex": b"B"}),
                                  zipped({"main.tex": b"A", "figs/a.tex": b"B"})])
def test_archives_come_out_whole(tmp_path, data):
    done = opened(tmp_path, data)
    assert files_of(done.folder) == {"main.tex": b"A", "figs/a.tex": b"B"}
    assert done.files == 2 and done.bytes == 2 and not done.left_out


def test_a_lone_file_becomes_main_tex(tmp_path):
    assert list(files_of(opened(tmp_path, lone(tex())).folder)) == ["main.tex"]
    assert list(files_of(opened(tmp_path, tex().encode(), name="draft7.tex").folder)) == ["draft7.tex"]


HOSTILE = {
    "parent": ("../evil.tex", b"x", {}), "deep parent": ("a/../../evil.tex", b"x", {}), "absolute": ("/tmp/evil.tex", b"x", {}),
    "drive": ("C:/evil.tex", b"x", {}), "backslash": ("..\\evil.tex", b"x", {}),
    "symlink out": ("link", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}),
    "symlink inside": ("link.tex", b"", {"type": tarfile.SYMTYPE, "linkname": "main.tex"}),
    "hard link": ("hard.tex", b"", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"}),
    "device": ("dev", b"", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3}), "pipe": ("fifo", b"", {"type": tarfile.FIFOTYPE}),
    "too deep": ("/".join("abcdefgh") + "/x.tex", b"x", {}), "long name": ("n" * 300 + ".tex", b"x", {}), "control": ("a\nb.tex", b"x", {}),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_members_are_left_out_and_told(tmp_path, kind):
    done = opened(tmp_path, members(HOSTILE[kind], ("main.tex", b"A", {})))
    assert files_of(done.folder) == {"main.tex": b"A"}
    assert len(done.left_out) == 1
    outside = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert outside == {"source", "main.tex"}


def test_a_symlinked_folder_is_not_written_through(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    data = members(("dir", b"", {"type": tarfile.SYMTYPE, "linkname": str(outside)}), ("dir/evil.tex", b"x", {}), ("main.tex", b"A", {}))
    done = opened(tmp_path, data)
    assert not any(outside.iterdir())
    assert files_of(done.folder) == {"main.tex": b"A", "dir/evil.tex": b"x"}, "the link is gone, the file is a plain one inside"


def test_what_systems_leave_behind_is_left_out_silently(tmp_path):
    done = opened(tmp_path, targz({"._main.tex": b"\0", "__MACOSX/x": b"", ".DS_Store": b"", "main.tex": b"A", "a/._b.tex": b""}))
    assert files_of(done.folder) == {"main.tex": b"A"} and not done.left_out


def test_names_that_are_not_utf8(tmp_path):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        member = tarfile.TarInfo("fig\xe9.tex")
        member.size = 1
        archive.addfile(member, io.BytesIO(b"x"))
    assert list(files_of(opened(tmp_path, out.getvalue()).folder)) == ["figé.tex"]


def test_a_file_and_a_folder_of_one_name(tmp_path):
    done = opened(tmp_path, targz({"a": b"x", "a/b.tex": b"y", "main.tex": b"A"}))
    assert files_of(done.folder) == {"a": b"x", "main.tex": b"A"} and len(done.left_out) == 1


BOMBS = {
    "ratio": gzip.compress(b"\0" * (8 << 20)), "tar ratio": targz({"main.tex": b"A" * (8 << 20)}),
    "members": targz({f"f{n}.tex": b"" for n in range(200)}), "zip members": zipped({f"f{n}.tex": b"x" for n in range(200)}),
    "zip ratio": zipped({"main.tex": b"A" * (8 << 20)}), "total": targz({f"f{n}.tex": os.urandom(400_000) for n in range(4)}),
    "plain total": plain_tar({f"f{n}.tex": os.urandom(400_000) for n in range(4)}),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_bombs_are_stopped_and_leave_nothing(tmp_path, kind):
    data = BOMBS[kind] if kind != "ratio" else gzip.compress(tex().encode() + b"A" * (8 << 20))
    with pytest.raises(cli.Stop) as stop:
        opened(tmp_path, data)
    assert stop.value.code == cli.UNUSABLE and ("not unpacked" in stop.value.message or "larger than" in stop.value.message)
    assert [path.name for path in (tmp_path / "raw").iterdir()] == ["source"]


def test_a_huge_header_is_stopped(tmp_path):
    """A pax header that says it is 30 MB would be held in memory whole."""
    member = tarfile.TarInfo("main.tex")
    member.pax_headers = {"comment": "x" * (30 << 20)}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member)
    with pytest.raises(cli.Stop, match="headers"):
        opened(tmp_path, out.getvalue(), Limits())


def test_a_million_members_in_a_zip_are_never_listed(tmp_path):
    end = b"PK\x05\x06" + b"\0" * 4 + b"\xff\xff" * 2 + (200 << 20).to_bytes(4, "little") + b"\0" * 4 + b"\0\0"
    with pytest.raises(cli.Stop, match="members"):
        opened(tmp_path, b"PK\x03\x04" + b"\0" * 100 + end)


def test_one_large_file_is_left_out(tmp_path):
    done = opened(tmp_path, targz({"big.tex": os.urandom(600_000), "main.tex": b"A"}))
    assert files_of(done.folder) == {"main.tex": b"A"} and "larger than" in done.left_out[0]


@pytest.mark.parametrize("data", [targz({"main.tex": os.urandom(90_000)})[:40_000], zipped({"main.tex": b"x" * 900})[:-30],
                                  lone(tex())[:-12], plain_tar({"a.tex": b"x" * 90_000})[:20_000]])
def test_damaged_archives_are_told(tmp_path, data):
    with pytest.raises(cli.Stop) as stop:
        opened(tmp_path, data)
    assert stop.value.code == cli.UNUSABLE and not (tmp_path / "raw" / "out").exists()


def test_encrypted_zip_members_are_told(tmp_path):
    data = bytearray(zipped({"main.tex": b"A" * 50}))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(cli.Stop, match="no file that can be read"):
        opened(tmp_path, bytes(data))


def test_a_folder_is_copied_without_following_links(tmp_path):
    source, secret = tmp_path / "paper", tmp_path / "secret.tex"
    (source / "sec").mkdir(parents=True)
    (source / ".git").mkdir()
    secret.write_text("secret", encoding="utf-8")
    (source / "main.tex").write_text("A", encoding="utf-8")
    (source / "sec" / "a.tex").write_text("B", encoding="utf-8")
    (source / ".git" / "config").write_text("x", encoding="utf-8")
    (source / "link.tex").symlink_to(secret)
    (source / "out").symlink_to(tmp_path)
    done = unpack.unpack(source, tmp_path / "copy", SMALL)
    assert files_of(done.folder) == {"main.tex": b"A", "sec/a.tex": b"B"}


def test_the_old_folder_stays_when_the_new_one_fails(tmp_path):
    opened(tmp_path, targz({"main.tex": b"A"}))
    with pytest.raises(cli.Stop):
        opened(tmp_path, BOMBS["tar ratio"])
    assert files_of(tmp_path / "raw" / "out") == {"main.tex": b"A"}
