"""FeatureExtractor and folders of images, with the tiny networks of tests/data."""
import pathlib
import pickle
import subprocess

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import annulus
from annulus import CosineHead, FeatureExtractor, FewShotClassifier

Image = pytest.importorskip("PIL.Image")
RECIPE = "unit resize=8x8 crop=none"


@pytest.fixture
def photos(tmp_path):
    """A folder a class: red, green and blue squares, no two alike."""
    for number in range(24):
        colour = [number, number, number]
        colour[number % 3] = 200 + 2 * number
        folder = tmp_path / "photos" / ("red", "green", "blue")[number % 3]
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (16, 16), tuple(colour)).save(folder / f"{number:02}.png")
    return tmp_path / "photos"


@pytest.fixture
def extractor(test_data, tmp_path):
    made = FeatureExtractor(str(test_data / "backbones" / "any_size.onnx"), preprocess=RECIPE, cache=tmp_path / "cache")
    try:
        return made.fit()
    except (OSError, RuntimeError, ValueError) as error:
        if "ONNX Runtime" not in str(error):
            raise
        pytest.skip(f"images need ONNX Runtime: {error}")


def test_every_form_of_an_image_gives_the_same_row(extractor, photos):
    paths = sorted(photos.rglob("*.png"))[:4]
    rows = extractor.transform(paths)
    assert rows.dtype == np.float32 and rows.shape == (4, extractor.dimension_)
    pictures = [Image.open(path) for path in paths]
    pixels = [np.asarray(each) for each in pictures]
    for form in ([str(path) for path in paths], [path.read_bytes() for path in paths], pictures, pixels, np.stack(pixels),
                 [paths[0], paths[1].read_bytes(), pictures[2], pixels[3]]):
        assert np.array_equal(extractor.transform(form), rows)
    assert extractor.transform([]).shape == (0, extractor.dimension_)


@pytest.mark.parametrize("backbone", ["vector", "channels_last"])
@pytest.mark.parametrize("layout", ["nchw", "nhwc"])
def test_every_form_of_an_image_gives_the_same_bits_in_both_layouts(extractor, test_data, tmp_path, backbone, layout):
    random = np.random.default_rng(5)
    arrays = [random.integers(0, 256, (11, 9 + number, 3), dtype=np.uint8) for number in range(3)]
    paths = [tmp_path / f"{number}.png" for number in range(len(arrays))]
    for array, path in zip(arrays, paths):
        Image.fromarray(array).save(path)
    network = str(test_data / "backbones" / f"{backbone}.onnx")
    recipe = "imagenet resize=8x8 crop=none"
    planar = FeatureExtractor(network, preprocess=recipe, cache=tmp_path / "planar").fit().transform(paths)
    made = FeatureExtractor(network, preprocess=f"{recipe} layout={layout}", cache=tmp_path / "cache").fit()
    for form in (paths, [path.read_bytes() for path in paths], [Image.open(path) for path in paths], arrays):
        assert made.transform(form).tobytes() == planar.tobytes(), type(form[0])


def test_every_kind_of_png_gives_the_same_bits_as_pil(extractor, test_data):
    # 16-bit grey is left out: PIL clips it to white, and files keep its high byte.
    paths = [path for path in sorted((test_data / "images").glob("png_*.png")) if not path.name.startswith("png_grey_16")]
    assert len(paths) > 20
    for path in paths:
        with Image.open(path) as picture:
            assert extractor.transform([picture]).tobytes() == extractor.transform([path]).tobytes(), path.name


def test_pil_images_are_turned_as_files_are(extractor, test_data, tmp_path):
    for name in ("exif_6.jpg", "exif_6.png", "exif_8.jpg", "exif_damaged.jpg", "exif_1.jpg"):
        path = test_data / "images" / name
        with Image.open(path) as picture:
            assert np.allclose(extractor.transform([picture]), extractor.transform([path]), atol=1e-3), name
    ignoring = FeatureExtractor(extractor.backbone, preprocess=RECIPE + " exif=ignore", cache=tmp_path / "cache").fit()
    path = test_data / "images" / "exif_6.jpg"
    with Image.open(path) as picture:
        assert np.allclose(ignoring.transform([picture]), ignoring.transform([path]), atol=1e-3)
        assert not np.allclose(ignoring.transform([picture]), extractor.transform([picture]), atol=1e-2)


def test_images_that_are_none(extractor, photos, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match="broken.png"):
        extractor.transform([tmp_path / "broken.png"])
    with pytest.raises(ValueError, match="image 0"):
        extractor.transform([b"no picture"])
    with pytest.raises(ValueError, match="expected image 1 as"):
        extractor.transform([np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4), np.uint8)])
    with pytest.raises(TypeError, match="put it into a list"):
        extractor.transform(str(photos))
    with pytest.raises(OSError):
        extractor.transform([tmp_path / "none.png"])


def test_boxes_are_images_of_their_own(extractor, photos, tmp_path):
    first = sorted((photos / "red").iterdir())[0]
    boxes = tmp_path / "boxes.csv"
    boxes.write_text(f"file_name,x,y,width,height\nred/{first.name},0,0,8,16\nred/{first.name},4,4,8,8\n")
    images = annulus.list_images(photos, boxes=boxes)
    assert images.paths.tolist() == [f"{first}#xywh=0,0,8,16", f"{first}#xywh=4,4,8,8"]
    assert images.labels.tolist() == ["red", "red"]
    assert images.groups[0] == images.groups[1], "boxes of a photo"
    picture = Image.open(first)
    expected = extractor.transform([picture.crop((0, 0, 8, 16)), picture.crop((4, 4, 12, 12))])
    assert np.array_equal(extractor.transform(images.paths), expected)
    wide = clone(extractor).set_params(crop_margin=0.5).fit()
    assert wide.provenance_["preprocessing"].endswith(" margin=0.5")
    assert np.array_equal(wide.transform(images.paths[1:]), extractor.transform([first]))


def test_frames_of_videos_are_images_that_belong_together(extractor, test_data, tmp_path):
    for label, name in (("a", "scenes.mp4"), ("b", "scenes.webm")):
        (tmp_path / "clips" / label).mkdir(parents=True)
        (tmp_path / "clips" / label / name).write_bytes((test_data / "videos" / name).read_bytes())
    with pytest.raises(ValueError, match="JPEG"):
        annulus.list_images(tmp_path / "clips")  # videos are passed over unless frames are wanted
    images = annulus.list_images(tmp_path / "clips", every=1)
    assert [path.rpartition("#")[2] for path in images.paths] == ["t=0", "t=1", "t=2"] * 2
    assert images.labels.tolist() == ["a"] * 3 + ["b"] * 3 and images.groups.tolist() == [0] * 3 + [1] * 3
    assert len(annulus.list_images(tmp_path / "clips", scenes=True)) >= 2
    assert extractor.transform(images.paths).shape == (6, extractor.dimension_)


def test_profiles_are_applied_to_files_bytes_and_pictures_alike(extractor, test_data):
    plain, wide = extractor, clone(extractor).set_params(srgb=True).fit()
    assert wide.provenance_["preprocessing"].endswith(" profile=srgb")
    for name in ("p3.png", "p3_jpeg.jpg", "adobe.png", "grey.png", "srgb.png", "wrong.png"):
        file = test_data / "profiles" / name
        images = [file, file.read_bytes(), Image.open(file)]
        rows = wide.transform(images)
        assert np.array_equal(rows[0], rows[1]) and np.array_equal(rows[0], rows[2]), name
        assert np.array_equal(rows[:1], plain.transform([file])) == (name in ("srgb.png", "wrong.png")), name
    assert not np.array_equal(plain.transform([test_data / "profiles" / "p3.png"]), wide.transform([test_data / "profiles" / "p3.png"]))


def test_copies_open_the_network_again(extractor, photos):
    paths = sorted(photos.rglob("*.png"))[:2]
    again = pickle.loads(pickle.dumps(extractor))
    assert np.array_equal(again.transform(paths), extractor.transform(paths))
    assert clone(extractor).get_params() == extractor.get_params()
    assert extractor.get_feature_names_out().tolist()[:2] == ["feature_0", "feature_1"]


def test_from_a_folder_to_a_model_and_back(extractor, photos, tmp_path, program):
    images = annulus.list_images(photos)
    assert images.groups.tolist() == list(range(24)), "each on its own"
    assert len(images) == 24 and set(images.labels) == {"red", "green", "blue"}
    pipeline = make_pipeline(clone(extractor), CosineHead(learning_rate=1.0, calibrate=False))
    assert cross_val_score(pipeline, images.paths, images.labels, cv=3).mean() > 0.9
    pipeline.fit(images.paths, images.labels)
    annulus.save(pipeline, tmp_path / "model.safetensors")
    loaded = annulus.load(tmp_path / "model.safetensors", images=True, backbone=extractor.backbone)
    assert np.array_equal(loaded.predict_proba(images.paths), pipeline.predict_proba(images.paths))
    with pytest.raises(ValueError, match="does not say"):
        annulus.save(pipeline[-1], tmp_path / "plain.safetensors")
        annulus.load(tmp_path / "plain.safetensors", images=True)
    other = str(pathlib.Path(extractor.backbone).with_name("map.onnx"))
    with pytest.raises(ValueError, match="was made with the backbone any_size.onnx .* and the features of images with map.onnx"):
        annulus.load(tmp_path / "model.safetensors", images=True, backbone=other)
    # The command line, given the same folder, answers the same.
    done = subprocess.run([program, "predict", str(tmp_path / "model.safetensors"), str(photos), "--backbone", extractor.backbone,
                           "--format", "csv", "-q"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = [line.split(",")[1] for line in done.stdout.splitlines()[1:]]
    assert sorted(told) == sorted(pipeline.predict(images.paths).tolist())


def test_the_fit_of_a_folder_is_that_of_the_command_line(extractor, photos, tmp_path, program):
    options = ["--backbone", extractor.backbone, "--preprocess", RECIPE, "--cache", str(tmp_path / "cache")]
    subprocess.run([program, "fit", str(photos), "-q", "-o", str(tmp_path / "cli.safetensors"), *options], check=True)
    images = annulus.list_images(photos)
    model = FewShotClassifier().fit(extractor.transform(images.paths), images.labels)
    loaded = annulus.load(tmp_path / "cli.safetensors")
    rows = extractor.transform(images.paths)
    assert np.array_equal(loaded.predict_proba(rows), model.predict_proba(rows))


def test_folders_are_evaluated_and_audited(extractor, photos):
    report = annulus.evaluate(photos, shots=[2], subsets=1, methods=["ncm"], images=extractor)
    assert report.accuracy("ncm", 2) > 90
    first = sorted((photos / "red").iterdir())[0]
    (first.parent / "copy.png").write_bytes(first.read_bytes())
    audit = annulus.audit(photos, images=extractor)
    assert any(finding["kind"] == "duplicate" for finding in audit.findings)
    assert '<img src="data:image/' in audit.html


def test_precision_is_passed_on(extractor, test_data, photos):
    """The tiny network of the tests has one layer, which stays in float: int8 says so, auto goes on in float32."""
    paths = sorted(photos.rglob("*.png"))
    network = str(test_data / "backbones" / "any_size.onnx")
    with pytest.raises(ValueError, match="int8"):
        FeatureExtractor(network, preprocess=RECIPE, precision="int8").fit(paths)
    with pytest.raises(ValueError, match="float32, int8 or auto"):
        FeatureExtractor(network, preprocess=RECIPE, precision="int4").fit(paths)
    chosen = FeatureExtractor(network, preprocess=RECIPE, precision="auto").fit(paths)
    assert chosen.provenance_ == extractor.provenance_
    assert np.array_equal(chosen.transform(paths[:3]), extractor.transform(paths[:3]))


def test_a_feature_is_chosen_of_networks_that_have_a_name(test_data):
    """tests/scripts/backbones_test.py makes one; here is what is rejected before anything is opened."""
    with pytest.raises(ValueError, match="feature= only with networks that annulus backbones lists"):
        FeatureExtractor(str(test_data / "backbones" / "tokens.onnx"), feature="mean", preprocess=RECIPE).fit()
    with pytest.raises(ValueError, match="feature= to be cls, mean or cls[+]mean, found \"max\""):
        FeatureExtractor("dinov2-vits14", feature="max").fit()
