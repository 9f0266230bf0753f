// Images from the command line: extract, fit and predict with a tiny backbone; backbones.
#include <fmt/format.h>

#include "annulus/base/error.h"
#include "annulus/store/models/model_file.h"
#include "annulus/vision/backbone/onnxruntime.h"
#include "annulus/vision/image/svg.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/rank.h"

namespace annulus {
namespace {

constexpr const char* kRecipe = "unit resize=8x8 crop=none";
constexpr std::size_t kImages = 24;  // eight of each of three classes

std::string backbone(const std::string& name) {
  return std::string(ANNULUS_TEST_DATA) + "/backbones/" + name + ".onnx";
}

// A folder a class: red, green and blue squares, no two alike.
std::string make_photos(const Scratch& scratch) {
  const char* names[] = {"blue", "green", "red"};
  for (std::size_t i = 0; i < kImages; ++i) {
    const std::size_t label = i % 3;
    const std::size_t shade = 200 + 2 * i;
    const std::string file = scratch / fmt::format("photos/{}/{:02}.png", names[label], i);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    const std::string svg = fmt::format(
        R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="rgb({},{},{})"/></svg>)svg",
        label == 2 ? shade : i, label == 1 ? shade : i, label == 0 ? shade : i);
    const auto png = render_svg(svg, 16, "test picture");
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  }
  return scratch / "photos";
}

class Images : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    photos_ = make_photos(scratch_);
    encoder_ = {"--backbone", backbone("any_size"), "--preprocess", kRecipe, "--cache", scratch_ / "cache"};
  }

  Outcome run(std::vector<std::string> arguments, bool with_encoder = true) {
    if (with_encoder) arguments.insert(arguments.end(), encoder_.begin(), encoder_.end());
    return run_annulus(scratch_, std::move(arguments));
  }

  std::string fit_model() {
    const std::string model = scratch_ / "model.safetensors";
    const Outcome fit = run({"fit", photos_, "--recipe", "baseline", "--lr", "1", "--no-calibrate", "-q", "-o", model});
    EXPECT_EQ(fit.exit_code, 0) << fit.err;
    return model;
  }

  Scratch scratch_;
  std::string photos_;
  std::vector<std::string> encoder_;
};

TEST_F(Images, LabelsBecomeKeywordsOfPhotos) {
  const std::string model = fit_model();
  const std::string photo = photos_ + "/red/02.png";
  const Outcome first =
      run({"predict", model, photos_ + "/red", photos_ + "/blue", "--write-xmp", "--format", "jsonl"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("16 sidecars written for 16 photos"), std::string::npos) << first.err;
  const auto rows = parse_json_lines(first.out);
  ASSERT_EQ(rows.size(), 16U);
  for (const auto& row : rows) {
    const std::string sidecar = row["path"].get<std::string>() + ".xmp";
    EXPECT_NE(read_text(sidecar).find("<rdf:li>" + row["label"].get<std::string>() + "</rdf:li>"), std::string::npos)
        << sidecar;
  }
  // Sidecars are no photos, and nothing changes.
  const Outcome again = run({"predict", model, photos_ + "/red", photos_ + "/blue", "--write-xmp"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("0 sidecars written for 16 photos"), std::string::npos) << again.err;
  std::ofstream(photo + ".xmp") << "not XMP";
  const Outcome broken = run({"predict", model, photo, "--write-xmp"});
  EXPECT_NE(broken.exit_code, 0);
  EXPECT_NE(broken.err.find("expected an XMP sidecar"), std::string::npos) << broken.err;
  EXPECT_EQ(read_text(photo + ".xmp"), "not XMP");
}

TEST_F(Images, FoldersInFoldersAreGroups) {
  const std::filesystem::path warm = scratch_ / "photos/warm";
  std::filesystem::create_directories(warm);
  for (const char* name : {"red", "green"}) std::filesystem::rename(photos_ + "/" + name, warm / name);
  const std::string model = scratch_ / "groups.safetensors";
  const Outcome fit = run({"fit", photos_, "--hierarchy", "--recipe", "baseline", "--lr", "1", "-q", "-o", model});
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  const Outcome predict =
      run({"predict", model, photos_, "--format", "jsonl", "--sure", "0.999", "--false-reject", "0"});
  ASSERT_EQ(predict.exit_code, 0) << predict.err;
  const auto rows = parse_json_lines(predict.out);
  ASSERT_EQ(rows.size(), kImages);
  std::size_t groups = 0;
  for (const auto& row : rows) {
    const std::string best = row["best"];
    ASSERT_EQ(row["lineage"].size(), row["lineage"][0]["label"] == "warm" ? 2U : 1U) << row;
    EXPECT_TRUE(row["label"] == "warm" || row["label"] == row["lineage"].back()["label"]) << row;
    EXPECT_NE(best, "warm");
    groups += row["label"] == "warm" ? 1U : 0U;
  }
  EXPECT_GT(groups, 0U);
  const Outcome score = run({"score", model, photos_, "--json", "-"});
  ASSERT_EQ(score.exit_code, 0) << score.err;
  const auto scored = nlohmann::json::parse(score.out);
  EXPECT_EQ(scored["groups"]["sure"], 0.8);
  ASSERT_EQ(scored["groups"]["levels"].size(), 2U);
  EXPECT_GE(scored["groups"]["levels"][0]["accuracy"], scored["accuracy"]);
  const Outcome text = run({"predict", model, photos_, "--sure", "0.999", "--false-reject", "0"});
  EXPECT_NE(text.out.find("(which one is unsure: warm/"), std::string::npos) << text.out;
  const Outcome csv = run({"predict", model, photos_, "--format", "csv", "--top", "1", "--false-reject", "0"});
  EXPECT_TRUE(csv.out.starts_with("path,label,probability,best_class,lineage\n")) << csv.out;
  std::ofstream(scratch_ / "parents.csv") << "class,parent\nblue,cold\nwarm/reed,cold\n";
  const Outcome typo = run({"fit", photos_, "--parents", scratch_ / "parents.csv", "-o", scratch_ / "no.safetensors"});
  EXPECT_NE(typo.exit_code, 0);
  EXPECT_NE(typo.err.find("\"warm/reed\", which is neither"), std::string::npos) << typo.err;
}

TEST_F(Images, OtherProgramsReadTheKeywords) {
  if (std::system("exiv2 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "exiv2 is not installed";
  const std::string model = fit_model();
  const std::string photo = photos_ + "/green/01.png";
  const auto exiv2 = [&](const std::string& arguments) {
    return Child(scratch_, {"sh", "-c", "exiv2 " + arguments + " '" + photo + ".xmp'"}).wait();
  };
  ASSERT_EQ(run({"predict", model, photo, "--write-xmp"}).exit_code, 0);
  EXPECT_EQ(exiv2("-g Xmp.dc.subject -Pv").out, "green\n");
  ASSERT_EQ(exiv2("-M 'set Xmp.dc.subject XmpBag garden'").exit_code, 0);
  ASSERT_EQ(run({"predict", model, photo, "--write-xmp"}).exit_code, 0);
  EXPECT_EQ(exiv2("-g Xmp.dc.subject -Pv").out, "green, garden\n");
}

// A program that was installed without ONNX Runtime, with an empty cache: it runs the fetch script beside it.
TEST_F(Images, TheRuntimeIsFetchedWhereItIsNowhere) {
  const std::filesystem::path library = onnxruntime().library;
  ASSERT_TRUE(library.is_absolute()) << "the tests' own is in the cache: " << library;
  const std::filesystem::path share = scratch_ / "installed/share/annulus";
  std::filesystem::create_directories(share);
  std::filesystem::create_directories(scratch_ / "installed/bin");
  std::filesystem::copy_file(ANNULUS_PROGRAM, scratch_ / "installed/bin/annulus");
  const auto write_script = [&](const std::string& body) {
    std::ofstream(share / "fetch") << "#!/bin/sh\n" << body;
    std::filesystem::permissions(share / "fetch", std::filesystem::perms::owner_all);
  };
  const auto fit = [&] {
    std::vector<std::string> command{"env",
                                     "-i",
                                     "HOME=" + (scratch_ / "home"),
                                     "PATH=/usr/bin:/bin",
                                     scratch_ / "installed/bin/annulus",
                                     "fit",
                                     photos_,
                                     "--recipe",
                                     "baseline",
                                     "--no-calibrate",
                                     "-o",
                                     scratch_ / "model.safetensors"};
    command.insert(command.end(), encoder_.begin(), encoder_.end());
    return Child(scratch_, command).wait();
  };
  write_script("echo 'fetch: no network here' >&2; exit 1\n");
  const Outcome offline = fit();
  EXPECT_NE(offline.exit_code, 0);
  EXPECT_NE(offline.err.find("no network here"), std::string::npos) << offline.err;
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "model.safetensors"));

  write_script(
      fmt::format("[ \"$1\" = onnxruntime ] || exit 1\nmkdir -p \"$HOME/.cache/annulus/onnxruntime\"\n"
                  "cp '{}' \"$HOME/.cache/annulus/onnxruntime/libonnxruntime.so.1\"\n"
                  "echo \"$HOME/.cache/annulus/onnxruntime\"\n",
                  library.string()));
  const Outcome fetched = fit();
  EXPECT_EQ(fetched.exit_code, 0) << fetched.err;
  EXPECT_TRUE(std::filesystem::exists(scratch_ / "model.safetensors"));

  write_script("exit 1\n");
  EXPECT_EQ(fit().exit_code, 0) << "it is there now";
}

TEST_F(Images, ExtractWritesAFeatureFileAndRemembersIt) {
  const std::string output = scratch_ / "features.npz";
  const Outcome first = run({"extract", photos_, "-o", output, "--dtype", "f32", "--json"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const auto json = nlohmann::json::parse(first.out);
  EXPECT_EQ(json["written"], kImages);
  EXPECT_EQ(json["computed"], kImages);
  EXPECT_EQ(json["dimension"], 5);
  const FeatureSet set = read_features(output);
  EXPECT_EQ(set.rows(), kImages);
  ASSERT_EQ(set.classes(), 3U);
  EXPECT_EQ(set.class_names()[2], "red");
  EXPECT_FALSE(set.provenance().at("backbone_sha256").empty());
  const Outcome again = run({"extract", photos_, "-o", output, "--json"});
  EXPECT_EQ(nlohmann::json::parse(again.out)["cached"], kImages);
}

TEST_F(Images, JoinedNetworksAndViewsFromFitToExport) {
  const std::string joined = backbone("vector") + "+" + backbone("tokens");
  encoder_ = {"--backbone", joined, "--preprocess", kRecipe, "--cache", scratch_ / "cache"};
  const std::string model = scratch_ / "model.safetensors";
  const Outcome fit = run(
      {"fit", photos_, "--views", "flip", "--recipe", "baseline", "--lr", "1", "--no-calibrate", "-q", "-o", model});
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  const Model found = read_model(model);
  EXPECT_EQ(found.head.dimension(), 10U);
  EXPECT_EQ(found.provenance.at("backbone"), "vector.onnx+tokens.onnx");
  EXPECT_EQ(found.provenance.at("views"), "flip");
  const Outcome predict =
      run_annulus(scratch_, {"predict", model, photos_, "--backbone", joined, "--cache", scratch_ / "cache"});
  EXPECT_EQ(predict.exit_code, 0) << predict.err;
  const Outcome alone = run_annulus(scratch_, {"predict", model, photos_, "--backbone", backbone("vector")});
  EXPECT_NE(alone.exit_code, 0);
  EXPECT_NE(alone.err.find("vector.onnx+tokens.onnx"), std::string::npos) << alone.err;
  const Outcome onnx =
      run_annulus(scratch_, {"export", model, "--onnx", scratch_ / "model.onnx", "--backbone", joined, "--json"});
  ASSERT_EQ(onnx.exit_code, 0) << onnx.err;
  EXPECT_EQ(nlohmann::json::parse(onnx.out)["onnx"]["checked"], true);
  const Outcome wrong = run({"fit", photos_, "--views", "many", "-o", model});
  EXPECT_NE(wrong.exit_code, 0);
  EXPECT_NE(wrong.err.find("--views"), std::string::npos) << wrong.err;
}

TEST_F(Images, ExtractIsSharedByTheRanksOfALauncher) {
  const auto extract = [&](const std::string& output) {
    std::vector<std::string> arguments{"extract", photos_, "-o", scratch_ / output};
    arguments.insert(arguments.end(), encoder_.begin(), encoder_.end());
    return arguments;
  };
  Rank first(0, 2, extract("shared.safetensors"));
  Rank second(1, 2, extract("shared.safetensors"));
  EXPECT_EQ(second.wait().out, "");
  ASSERT_EQ(first.wait().exit_code, 0);
  std::uintmax_t keys = 0;  // a head of 64 bytes, 40 bytes a row: no image was done twice
  for (const auto& file : std::filesystem::directory_iterator(scratch_ / "cache")) {
    if (file.path().extension() == ".keys") keys += file.file_size();
  }
  EXPECT_EQ(keys, 64 + 40 * kImages);
  std::filesystem::remove_all(scratch_ / "cache");
  ASSERT_EQ(run(extract("alone.safetensors"), false).exit_code, 0);
  EXPECT_EQ(read_text(scratch_ / "shared.safetensors"), read_text(scratch_ / "alone.safetensors"));
}

TEST_F(Images, BrokenImagesAreLeftOutByNameOrRejected) {
  std::ofstream(scratch_ / "photos/red/broken.jpg") << "no image";
  const Outcome lenient = run({"extract", photos_, "-o", scratch_ / "f.safetensors"});
  EXPECT_EQ(lenient.exit_code, 0) << lenient.err;
  EXPECT_NE(lenient.err.find("left out "), std::string::npos) << lenient.err;
  EXPECT_NE(lenient.err.find("broken.jpg"), std::string::npos) << lenient.err;
  const Outcome strict = run({"extract", photos_, "-q", "-o", scratch_ / "g.safetensors", "--strict"});
  expect_complaint(strict, 4, "broken.jpg");
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "g.safetensors"));
}

TEST_F(Images, FitOnPhotosEqualsFitOnTheirFeatures) {
  const std::string features = scratch_ / "features.safetensors";
  ASSERT_EQ(run({"extract", photos_, "-q", "--dtype", "f32", "-o", features}).exit_code, 0);
  const Model from_photos = read_model(fit_model());
  const std::string other = scratch_ / "other.safetensors";
  ASSERT_EQ(run({"fit", features, "--recipe", "baseline", "--lr", "1", "-q", "-o", other}, false).exit_code, 0);
  const Model from_features = read_model(other);
  const float* a = from_photos.head.direction.data();
  EXPECT_TRUE(std::equal(a, a + 3 * 5, from_features.head.direction.data()));
  EXPECT_EQ(from_photos.provenance.at("backbone_sha256"), from_features.provenance.at("backbone_sha256"));
  EXPECT_EQ(from_photos.provenance.at("preprocessing"), from_features.provenance.at("preprocessing"));
}

TEST_F(Images, PredictNamesAFolderItsImagesAndStandardInputAlike) {
  const std::string model = fit_model();
  const Outcome folder = run({"predict", model, photos_, "--format", "jsonl", "--top", "1"});
  ASSERT_EQ(folder.exit_code, 0) << folder.err;
  EXPECT_NE(folder.err.find("accuracy 100.00 % of 24 labelled examples"), std::string::npos) << folder.err;
  const auto rows = parse_json_lines(folder.out);
  ASSERT_EQ(rows.size(), kImages);
  const std::string image = rows[20]["path"];
  const Outcome one = run({"predict", model, image, "--format", "jsonl", "--top", "1", "-q"});
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(parse_json_lines(one.out).at(0), rows[20]);
  const std::string rest = " --format jsonl --top 1 -q --backbone " + backbone("any_size") + " --cache " +
                           (scratch_ / "cache") + " --preprocess '" + kRecipe + "'";
  const std::string command = std::string(ANNULUS_PROGRAM) + " predict " + model + " -" + rest;
  const Outcome bytes = Child(scratch_, {"bash", "-c", command + " < " + image}).wait();
  ASSERT_EQ(bytes.exit_code, 0) << bytes.err;
  EXPECT_EQ(parse_json_lines(bytes.out).at(0)["probability"], rows[20]["probability"]);
  EXPECT_EQ(parse_json_lines(bytes.out).at(0)["path"], "-");
  const Outcome list =
      Child(scratch_, {"bash", "-c", "printf '%s\\n' " + image + " " + image + " | " + command}).wait();
  ASSERT_EQ(list.exit_code, 0) << list.err;
  EXPECT_EQ(parse_json_lines(list.out).at(1), rows[20]);
}

TEST_F(Images, PredictLeavesOutWhatIsMissingAmongSeveralAndRejectsItAlone) {
  const std::string model = fit_model();
  const std::string image = photos_ + "/red/02.png";
  const std::string missing = photos_ + "/red/missing.png";
  const Outcome both = run({"predict", model, missing, image, "--format", "csv", "--top", "1"});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_TRUE(both.err.starts_with("left out " + missing + ": ")) << both.err;
  EXPECT_TRUE(both.out.starts_with("path,label,probability\n" + image + ",red,")) << both.out;
  expect_complaint(run({"predict", model, missing, image, "-q", "--strict"}), 5, missing + ": ");
  expect_complaint(run({"predict", model, missing, "-q"}), 5, missing + ": ");
  std::ofstream(missing) << "words";
  expect_complaint(run({"predict", model, missing, "-q"}), 4, missing + ": expected a JPEG, PNG, WebP, HEIC");
}

TEST_F(Images, FitLearnsFromTheImagesOfAList) {
  std::ofstream(scratch_ / "few.txt") << "blue 00.png\nblue 03.png\nred 02.png\nred 05.png\n";
  const std::string model = scratch_ / "few.safetensors";
  const Outcome fit =
      run({"fit", photos_, "--list", scratch_ / "few.txt", "--recipe", "baseline", "--lr", "1", "-o", model});
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_NE(fit.out.find("learnt 2 classes from 4 examples"), std::string::npos) << fit.out;
  EXPECT_EQ(read_model(model).class_names, (std::vector<std::string>{"blue", "red"}));
  expect_complaint(run({"fit", model, "--list", scratch_ / "few.txt", "-q", "-o", scratch_ / "other.safetensors"}), 2,
                   "expected a folder of images for --list");
}

TEST_F(Images, PredictRejectsAnotherBackboneOrPreprocessing) {
  const std::string model = fit_model();
  expect_complaint(run({"predict", model, photos_, "-q"}, false), 2, "expected --backbone to name a file");
  encoder_[1] = backbone("channels_last");
  expect_complaint(run({"predict", model, photos_, "-q"}), 3, "was made with the backbone");
  encoder_[1] = backbone("any_size");
  encoder_[3] = "unit resize=12x12 crop=none";
  expect_complaint(run({"predict", model, photos_, "-q"}), 3, "preprocessing");
  const std::string features = scratch_ / "other.safetensors";
  ASSERT_EQ(run({"extract", photos_, "-q", "-o", features}).exit_code, 0);
  expect_complaint(run({"predict", model, features, "-q"}, false), 3, "preprocessing");
}

TEST_F(Images, EveryFormatIsReadAndProfilesAreFollowedWhereAskedFor) {
  const std::filesystem::path data(ANNULUS_TEST_DATA);
  const std::string folder = scratch_ / "formats";
  std::filesystem::create_directories(folder);
  const std::vector<std::string> files = {"photos/smooth.heic",  "photos/smooth.avif", "photos/lzw.tif",
                                          "photos/blocks.gif",   "photos/boxes.jxl",   "photos/preview.dng",
                                          "images/jpeg_420.jpg", "profiles/p3.webp",   "profiles/p3.png"};
  for (const std::string& file : files) {
    // Under another name too: content decides.
    std::filesystem::copy(data / file, std::filesystem::path(folder) / (data / file).filename());
    std::filesystem::copy(data / file, std::filesystem::path(folder) / ((data / file).filename().string() + ".jpg"));
  }
  const std::string features = scratch_ / "formats.safetensors";
  const Outcome plain = run({"extract", folder, "--strict", "-o", features});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const Outcome again = run({"extract", folder, "--strict", "--srgb", "-o", scratch_ / "srgb.safetensors"});
  ASSERT_EQ(again.exit_code, 0) << again.err;

  const std::string wide = (data / "profiles/adobe.png").string();
  const auto predicted = [&](const std::string& model) {
    const std::vector<std::string> rest = {"--backbone", encoder_[1], "--cache", scratch_ / "cache", "-q"};
    std::vector<std::string> arguments = {"predict", model, wide, "--format", "csv"};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    const Outcome outcome = run(arguments, false);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string model = fit_model();
  expect_complaint(run({"predict", model, folder, "--srgb", "-q"}), 3, "profile=srgb");
  const std::string as_stored = predicted(model);
  encoder_[3] = std::string(kRecipe) + " profile=srgb";
  EXPECT_NE(predicted(fit_model()), as_stored) << "the model knows that its photos are converted";
}

TEST_F(Images, AFolderWithoutImagesIsRejected) {
  std::filesystem::create_directories(scratch_ / "empty");
  expect_complaint(run({"fit", scratch_ / "empty", "-q", "-o", scratch_ / "m.safetensors"}), 3, "empty");
}

TEST(Backbones, AreListedAsATableAndAsJson) {
  const Scratch scratch;
  const Outcome table = run_annulus(scratch, {"backbones"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_NE(table.out.find("mobilenet-0.25"), std::string::npos);
  const Outcome json = run_annulus(scratch, {"backbones", "--json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  const auto list = nlohmann::json::parse(json.out);
  ASSERT_GE(list.size(), 2U);
  for (const char* field : {"name", "dimension", "licence", "sha256"}) EXPECT_TRUE(list[0].contains(field)) << field;
}

TEST(Backbones, AnUnknownNameIsRejectedWithTheNearestKnownOne) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch / "photos");
  std::ofstream(scratch / "photos/a.png") << "x";
  const auto extract = [&](const std::string& name) {
    return run_annulus(scratch, {"extract", scratch / "photos", "-q", "--backbone", name, "-o", scratch / "f.npz"});
  };
  expect_complaint(extract("alexnet"), 2,
                   "expected --backbone to be an ONNX file or a name that annulus backbones lists, found \"alexnet\"");
  expect_complaint(extract("mobilenet-025"), 2, "found \"mobilenet-025\": is mobilenet-0.25 meant?");
}

}  // namespace
}  // namespace annulus
