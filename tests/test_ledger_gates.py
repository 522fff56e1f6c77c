"""The order of gates: refused, recorded, stale when an input changes, noticed when the record is changed by hand."""

import json

import pytest
from paper2code import cli
from paper2code.check.gates import FAILED, OPEN, PASSED, SKIPPED, STALE, Gates
from paper2code.findings import Finding
from paper2code.workspace import Job, Workspace


@pytest.fixture
def work(tmp_path):
    work = Workspace(tmp_path / "w")
    work.folder.mkdir()
    work.save_job(Job("2101.00001v1", "2101.00001"))
    for path in (work.paper_file, work.contribution, work.ledger):
        path.write_text(f"{path.name}\n", encoding="utf-8")
    result = tmp_path / "result"
    (result / "src").mkdir(parents=True)
    (result / "src" / "model.py").write_text("x = 1\n", encoding="utf-8")
    (result / "notebooks").mkdir()
    (result / "notebooks" / "walkthrough.ipynb").write_text("{}\n", encoding="utf-8")
    return work, result


def passed_to(work, result, stage):
    gates = Gates(work)
    for number in range(1, stage + 1):
        gates.must_be_open(number)
        assert gates.record(number, [], {"things": number}, result if number >= 4 else None)
    return gates


def states(work):
    return [state.state for state in Gates(work).states()]


def test_a_gate_waits_for_the_one_before_it(work):
    work, result = work
    with pytest.raises(cli.Stop) as stop:
        Gates(work).must_be_open(3)
    assert stop.value.code == cli.GATE_ORDER and "gate 1" in stop.value.message and stop.value.fix
    passed_to(work, result, 2)
    Gates(work).must_be_open(3)
    assert states(work) == [PASSED, PASSED, OPEN, OPEN, OPEN]
    assert Gates(work).next() == 3


def test_a_failed_gate_is_not_passed(work):
    work, result = work
    gates = passed_to(work, result, 1)
    assert not gates.record(2, [Finding("x", "y")], {})
    assert states(work)[1] == FAILED
    with pytest.raises(cli.Stop):
        Gates(work).must_be_open(3)


@pytest.mark.parametrize(
    "changed, expected",
    [
        ("paper.json", [STALE] * 5),
        ("contribution.md", [PASSED, *[STALE] * 4]),
        ("ledger.yaml", [PASSED, PASSED, STALE, STALE, STALE]),
        ("src/model.py", [PASSED, PASSED, PASSED, STALE, STALE]),
        ("notebooks/walkthrough.ipynb", [PASSED] * 4 + [STALE]),
    ],
)
def test_a_changed_input_makes_its_gate_and_all_later_ones_stale(work, changed, expected):
    work, result = work
    passed_to(work, result, 5)
    assert states(work) == [PASSED] * 5
    path = work.folder / changed if (work.folder / changed).exists() else result / changed
    path.write_text("changed\n", encoding="utf-8")
    assert states(work) == expected
    path.unlink()
    assert states(work) == expected


def test_running_an_earlier_gate_again_on_the_same_files_keeps_the_later_ones(work):
    work, result = work
    passed_to(work, result, 4)
    Gates(work).record(2, [], {"things": 2})
    assert states(work)[:4] == [PASSED] * 4


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data["stages"]["3"].update(passed=True, errors=0),
        lambda data: data["stages"]["2"]["counts"].update(things=99),
        lambda data: data["stages"].update({"3": data["stages"]["2"]}),
        lambda data: data["stages"]["2"]["inputs"].update({"contribution.md": "0" * 64}),
    ],
)
def test_a_record_changed_by_hand_is_noticed(work, change):
    work, result = work
    gates = passed_to(work, result, 2)
    gates.record(3, [Finding("x", "y")], {})
    data = json.loads(work.gates.read_text(encoding="utf-8"))
    change(data)
    work.gates.write_text(json.dumps(data), encoding="utf-8")
    assert Gates(work).state(3).state != PASSED
    with pytest.raises(cli.Stop):
        Gates(work).must_be_open(4)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 7, "stages": {}}', '{"schema": 1, "stages": {"x": 1}}'])
def test_an_unreadable_record_means_every_gate_again(work, text):
    work, _ = work
    work.gates.write_text(text, encoding="utf-8")
    gates = Gates(work)
    assert gates.next() == 1 and gates.problem and "gates.json" in gates.text() or gates.next() == 1


def test_a_result_folder_is_remembered_and_may_move_with_the_workspace(work, tmp_path):
    work, result = work
    passed_to(work, result, 4)
    assert Gates(work).result() == result.resolve()
    moved = tmp_path / "moved"
    (tmp_path / "w").rename(moved / "w") if moved.mkdir() else None
    moved.joinpath("w").exists() or (tmp_path / "w").rename(moved / "w")
    result.rename(moved / "result")
    assert Gates(Workspace(moved / "w")).states()[3].state == PASSED


def test_a_paper_with_nothing_to_implement_has_two_gates_less(work):
    work, result = work
    gates = Gates(work, skipped=(3, 5))
    for stage in (1, 2, 4):
        gates.must_be_open(stage)
        gates.record(stage, [], {}, result if stage == 4 else None)
    assert [state.state for state in gates.states()] == [PASSED, PASSED, SKIPPED, PASSED, SKIPPED]
    assert gates.next() is None
    with pytest.raises(cli.Stop):
        gates.must_be_open(3)


def test_outputs_that_gate_5_keeps_in_the_notebook_do_not_make_it_stale(work, monkeypatch, capsys):
    from paper2code.check import stages
    from paper2code.check.outcome import Outcome

    work, result = work
    passed_to(work, result, 4)

    def gate(work, result):
        (result / "notebooks" / "walkthrough.ipynb").write_text('{"ran": true}\n', encoding="utf-8")
        return Outcome()

    monkeypatch.setitem(stages.GATES, 5, gate)
    for earlier in (1, 2, 3, 4):
        monkeypatch.setitem(stages.GATES, earlier, lambda work, result: Outcome())
    assert stages.run(5, work.folder, None) == cli.DONE
    assert "all gates have passed" in capsys.readouterr().out
    assert states(work) == [PASSED] * 5
    (result / "src" / "model.py").write_text("y = 2\n", encoding="utf-8")
    assert states(work)[3:] == [STALE, STALE]


@pytest.mark.parametrize("name", ["evidence.html", "paper2code.lock.json"])
def test_what_the_report_and_the_summary_write_does_not_make_a_gate_stale(work, name):
    work, result = work
    passed_to(work, result, 5)
    (result / name).write_text("written by write_report.py\n", encoding="utf-8")
    assert states(work) == [PASSED] * 5


def test_a_record_sealed_anew_does_not_pass_files_that_do_not(work, monkeypatch, capsys):
    """Whoever writes gates.json can work out its seals: the files of every earlier stage are judged again."""
    from paper2code.check import stages
    from paper2code.check.outcome import Outcome

    work, result = work
    for earlier in (1, 2, 4, 5):
        monkeypatch.setitem(stages.GATES, earlier, lambda work, result: Outcome())
    monkeypatch.setitem(stages.GATES, 3, lambda work, result: Outcome([Finding("ledger-number", "240 is not in the quote")]))
    passed_to(work, result, 4)  # as one would who calls the record's own functions
    assert states(work)[:4] == [PASSED] * 4
    with pytest.raises(cli.Stop) as stop:
        stages.run(5, work.folder, result)
    assert stop.value.code == cli.GATE_ORDER and "240 is not in the quote" in stop.value.message
    assert states(work)[2:4] == [FAILED, STALE]
