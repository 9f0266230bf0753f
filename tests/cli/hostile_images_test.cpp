// Hostile files inside a class folder: left out by name or rejected, with little memory and the right exit code.
#include "tests/fixtures/hostile_images.h"

#include <fmt/format.h>

#include "annulus/base/error.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

// More than the program may need for any of them on top of an ordinary run; a decoded 20000 x 20000 takes 1200 MB.
constexpr long kMoreMemoryKb = 200 * 1024;

class HostileImages : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    put("photos/a/1.jpg", hostile::fixture_text("jpeg_97x61.jpg"));
    put("photos/a/2.jpg", hostile::fixture_text("jpeg_420.jpg"));
    put("photos/b/1.png", hostile::fixture_text("png_rgb_8.png"));
    put("photos/b/2.png", hostile::fixture_text("png_rgba_8.png"));
  }

  void put(const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(scratch_ / name).parent_path());
    std::ofstream(scratch_ / name, std::ios::binary) << bytes;
  }

  Outcome run(const std::string& subcommand, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{subcommand,     scratch_ / "photos",
                                       "--backbone",   std::string(ANNULUS_TEST_DATA) + "/backbones/any_size.onnx",
                                       "--preprocess", "unit resize=8x8 crop=none",
                                       "--cache",      scratch_ / "cache",
                                       "-o",           scratch_ / "out.safetensors"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_annulus(scratch_, std::move(arguments));
  }

  Scratch scratch_;
};

TEST_F(HostileImages, EachIsLeftOutByNameOrRejectedInLittleMemory) {
  const Outcome ordinary = run("extract");
  ASSERT_EQ(ordinary.exit_code, 0) << ordinary.err;
  for (const hostile::File& file : hostile::files()) {
    const std::string path = scratch_ / ("photos/a/" + file.name);
    put("photos/a/" + file.name, file.bytes);
    const Outcome lenient = run("extract", {"--json"});
    EXPECT_EQ(lenient.exit_code, 0) << file.name << ": " << lenient.err;
    EXPECT_TRUE(lenient.err.starts_with("left out " + path + ": ")) << lenient.err;
    EXPECT_NE(lenient.err.find(file.complaint), std::string::npos) << lenient.err;
    EXPECT_EQ(std::count(lenient.err.begin(), lenient.err.end(), '\n'), 1) << lenient.err;
    EXPECT_EQ(nlohmann::json::parse(lenient.out)["written"], 4) << file.name;
    EXPECT_LT(lenient.most_memory_kb, ordinary.most_memory_kb + kMoreMemoryKb) << file.name;

    std::filesystem::remove(scratch_ / "out.safetensors");
    const Outcome strict = run("extract", {"--strict", "--quiet"});
    expect_complaint(strict, 4, path + ": ");
    EXPECT_NE(strict.err.find(file.complaint), std::string::npos) << strict.err;
    EXPECT_FALSE(std::filesystem::exists(scratch_ / "out.safetensors")) << file.name;
    EXPECT_LT(strict.most_memory_kb, ordinary.most_memory_kb + kMoreMemoryKb) << file.name;
    std::filesystem::remove(path);
  }
}

TEST_F(HostileImages, AllOfThemTogetherDoNotKeepAModelFromBeingLearnt) {
  for (const hostile::File& file : hostile::files()) put("photos/b/" + file.name, file.bytes);
  const Outcome fit = run("fit", {"--recipe", "baseline"});
  EXPECT_EQ(fit.exit_code, 0) << fit.err;
  EXPECT_NE(fit.out.find("learnt 2 classes from 4 examples"), std::string::npos) << fit.out;
  EXPECT_NE(fit.err.find(fmt::format("left out {} images in all", hostile::files().size())), std::string::npos)
      << fit.err;
  expect_complaint(run("fit", {"--recipe", "baseline", "--strict", "--quiet"}), 4, "photos/b/");
}

TEST_F(HostileImages, AClassWithoutAnImageIsNamed) {
  std::filesystem::create_directories(scratch_ / "photos/nothing");
  expect_complaint(run("fit", {"--quiet"}), 3,
                   "photos/nothing holds no JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW images");
  expect_complaint(run("fit", {"--quiet", "--strict"}), 3,
                   "photos/nothing holds no JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW images");
  put("photos/nothing/words.jpg", "words");
  // What was left out is said also when the command is quiet.
  const Outcome quiet = run("fit", {"--quiet"});
  EXPECT_EQ(quiet.exit_code, 3) << quiet.err;
  EXPECT_TRUE(quiet.err.starts_with("left out ")) << quiet.err;
  EXPECT_NE(quiet.err.find("nothing/words.jpg"), std::string::npos) << quiet.err;
  EXPECT_NE(quiet.err.find("annulus: "), std::string::npos) << quiet.err;
  EXPECT_NE(quiet.err.find("class \"nothing\" has 0 training examples"), std::string::npos) << quiet.err;
  expect_complaint(
      run("fit", {"--quiet", "--strict"}), 4,
      "nothing/words.jpg: expected a JPEG, PNG, WebP, HEIC, AVIF, TIFF, GIF, BMP, JPEG XL or camera RAW image");
}

}  // namespace
}  // namespace annulus
