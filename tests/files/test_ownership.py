"""Programs are loaded from folders and files that no other user could write."""

import os
import pickle
import stat

import pytest

from vigym import files, ownership
from vigym.core.compiler import cache
from vigym.ownership import UnsafeFolderError, check_program, private_folder

OTHER = 65534


@pytest.fixture
def give():
    """Return a function that gives a file or a link to another user."""
    if os.getuid() != 0:
        pytest.skip("only root can give files away")
    return lambda path: os.chown(path, OTHER, OTHER, follow_symlinks=False)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_folder_is_private_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        made = private_folder(tmp_path / "one" / "two")
    finally:
        os.umask(before)
    assert [mode_of(made), mode_of(made.parent)] == [0o700, 0o700]


def test_an_open_folder_is_closed(tmp_path):
    tmp_path.joinpath("own").mkdir()
    for mode, expected in ((0o777, 0o700), (0o1777, 0o700), (0o755, 0o755)):
        tmp_path.joinpath("own").chmod(mode)
        assert mode_of(private_folder(tmp_path / "own")) == expected


def test_a_folder_that_others_could_replace_is_refused(tmp_path):
    place = tmp_path / "place"
    private_folder(place / "own")
    place.chmod(0o777)
    with pytest.raises(UnsafeFolderError, match="place: found mode 0777, expected a folder that"):
        private_folder(place / "own")
    (tmp_path / "link").symlink_to(place / "own")
    with pytest.raises(UnsafeFolderError, match="place: found mode 0777"):
        private_folder(tmp_path / "link")
    place.chmod(0o1777)  # as of /tmp: others cannot replace what is there
    assert private_folder(tmp_path / "link") == place / "own"


def test_folders_and_links_of_others_are_refused(tmp_path, give):
    own, link = tmp_path / "own", tmp_path / "link"
    own.mkdir()
    link.symlink_to(own)
    give(link)
    with pytest.raises(UnsafeFolderError, match=f"link: found user {OTHER}"):
        private_folder(link / "kernels")
    give(own)
    with pytest.raises(UnsafeFolderError, match=f"own: found user {OTHER}"):
        private_folder(own)
    with pytest.raises(UnsafeFolderError, match=f"own: found user {OTHER}"):
        private_folder(own / "kernels")


def test_a_group_of_the_user_alone_may_write(tmp_path):
    import grp
    import pwd

    user = pwd.getpwuid(os.getuid())
    if grp.getgrgid(user.pw_gid).gr_name != user.pw_name:
        pytest.skip("the user has no group alone")
    os.chown(tmp_path, -1, user.pw_gid)
    tmp_path.chmod(0o770)
    assert private_folder(tmp_path / "own").parent == tmp_path


def test_a_group_of_several_may_not(tmp_path, monkeypatch):
    monkeypatch.setattr(ownership, "_is_private", lambda gid: False)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o770)
    with pytest.raises(UnsafeFolderError, match="found mode 0770"):
        private_folder(tmp_path / "shared" / "own")


def test_programs_that_others_may_have_written_are_refused(tmp_path):
    file, link = tmp_path / "file", tmp_path / "link"
    check_program(file)
    file.write_bytes(b"")
    file.chmod(0o644)
    check_program(file)
    file.chmod(0o666)
    with pytest.raises(ValueError, match="file: found user .*, mode -rw-rw-rw-, expected"):
        check_program(file)
    link.symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match="link: found user .*, mode lrwx"):
        check_program(link)


def test_a_program_beside_what_was_named_is_of_one_of_its_owners(tmp_path, give):
    named, beside = tmp_path / "model.zip", tmp_path / "vecnormalize.pkl"
    named.write_bytes(b"")
    beside.write_bytes(pickle.dumps(3))
    assert files.read_pickle(beside, named) == 3
    give(beside)
    with pytest.raises(ValueError, match=f"found a program of another user .{OTHER}., expected"):
        files.read_pickle(beside, named)
    give(named)
    assert files.read_pickle(beside, named) == 3


def test_a_program_that_all_users_may_write_is_refused(tmp_path):
    named = tmp_path / "vecnormalize.pkl"
    named.write_bytes(pickle.dumps(3))
    named.chmod(0o666)
    with pytest.raises(ValueError, match="all users may write .mode 0666."):
        files.read_pickle(named, named)
    named.chmod(0o664)
    assert files.read_pickle(named, named) == 3


def test_a_link_that_another_user_planted_in_a_shared_folder_is_not_followed(tmp_path, give):
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "table.csv").symlink_to(own)
    files.write_file(shared / "table.csv", "one")
    assert own.read_text() == "one"
    give(shared / "table.csv")
    for write in (files.check_output, lambda path: files.write_file(path, "two")):
        with pytest.raises(PermissionError, match=f"a link of user {OTHER}"):
            write(shared / "table.csv")
    assert own.read_text() == "one"


@pytest.fixture
def candidates(tmp_path, monkeypatch):
    """Folders that the variables name, of the user's cache and for temporary files."""
    folders = {}
    for variable in ("VIGYM_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR"):
        folders[variable] = tmp_path / variable
        folders[variable].mkdir()
        monkeypatch.setenv(variable, str(folders[variable]))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(cache, "_printed", set())
    yield folders
    monkeypatch.undo()


def test_named_folders_that_others_may_write_are_told_and_left(candidates, capsys):
    assert cache.cache_folder().parent == candidates["VIGYM_CACHE_DIR"] / "vigym"
    for variable, later in zip(candidates, [*candidates][1:], strict=False):
        candidates[variable].chmod(0o777)
        found = cache.cache_folder()
        assert found.parent.parent == candidates[later]
        said = capsys.readouterr().err
        assert said.startswith(f"vigym keeps no kernels in {candidates[variable]}")
        assert "found mode 0777, expected a folder that only this user and root may write" in said
    candidates["TMPDIR"].chmod(0o777)
    assert cache.cache_folder() is None
    assert "vigym keeps no compiled kernels, found no safe folder" in capsys.readouterr().err


def test_the_folder_of_another_user_is_replaced_by_a_fresh_one(candidates, give, monkeypatch):
    for variable in [*candidates][:3]:
        candidates[variable].chmod(0o777)
    candidates["TMPDIR"].chmod(0o1777)
    planted = candidates["TMPDIR"] / f"vigym-{os.getuid()}"
    planted.mkdir()
    give(planted)
    found = cache.cache_folder()
    assert found.parent.parent == candidates["TMPDIR"]
    assert found.parent != planted
    assert mode_of(found.parent) == 0o700
    assert cache.cache_folder() == found  # of a later process, too
