"""The examples of docs/reference/python.md, run as they stand but for the network, which is a tiny one of tests/data."""
import pathlib
import re

import pytest

Image = pytest.importorskip("PIL.Image")
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "reference" / "python.md"


def test_the_examples_run(tmp_path, monkeypatch, test_data, capsys, program):
    blocks = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text(encoding="utf-8"), re.S | re.M)
    assert len(blocks) == 2
    lines = [line for line in blocks[0].splitlines() if line and not line.startswith(("import", "from"))]
    assert len(lines) <= 10
    for number in range(24):
        colour = [number, number, number]
        colour[number % 3] = 200 + 2 * number
        folder = tmp_path / "photos" / f"class {number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (16, 16), tuple(colour)).save(folder / f"{number:02}.png")
    monkeypatch.chdir(tmp_path)
    network = f'"{test_data}/backbones/any_size.onnx", preprocess="unit resize=8x8 crop=none", cache="{tmp_path}/cache"'
    text = "\n".join(blocks).replace('"mobilenet-0.25"', network)
    assert network in text
    names = {}
    try:
        exec(compile(text, str(DOCUMENT), "exec"), names)  # pylint: disable=exec-used
    except (OSError, RuntimeError, ValueError) as error:
        if "ONNX Runtime" not in str(error):
            raise
        pytest.skip(f"images need ONNX Runtime: {error}")
    assert (tmp_path / "birds.safetensors").exists() and (tmp_path / "report.html").exists()
    assert "ibm2" in capsys.readouterr().out
