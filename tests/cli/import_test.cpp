// import: a checkpoint to an ONNX file.
#include "tests/fixtures/program.h"

namespace annulus {
namespace {

constexpr const char* kArchitecture = "vit:width=8,depth=2,heads=2,patch=8,image=32";

std::string checkpoint(const std::string& name) { return std::string(ANNULUS_TEST_DATA) + "/import/" + name; }

TEST(Import, WritesAnOnnxFileAndSaysWhatWasMatched) {
  const Scratch scratch;
  const std::string output = scratch / "net.onnx";
  const Outcome outcome =
      run_annulus(scratch, {"import", checkpoint("dino_plain.pth"), "--arch", kArchitecture, "-o", output, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["layout"].get<std::string>().find("plain state dict"), 0U) << json;
  EXPECT_EQ(json["image_size"], 32);
  EXPECT_GT(json["tensors_used"], 20);
  EXPECT_NE(read_text(output).find("pixel_values"), std::string::npos);
}

TEST(Import, TakesTheFeatureThatIsAskedFor) {
  const Scratch scratch;
  const std::string output = scratch / "net.onnx";
  const Outcome both = run_annulus(scratch, {"import", checkpoint("dinov2_both.pth"), "--arch", kArchitecture,
                                             "--feature", "cls+mean", "-o", output, "--json"});
  ASSERT_EQ(both.exit_code, 0) << both.err;
  EXPECT_EQ(nlohmann::json::parse(both.out)["feature"], "class token and mean of patch tokens");
  EXPECT_NE(read_text(output).find("annulus.feature"), std::string::npos);
  expect_complaint(run_annulus(scratch, {"import", checkpoint("dino_plain.pth"), "--arch", kArchitecture, "--feature",
                                         "max", "-o", output}),
                   2, "expected --feature to be cls, mean or cls+mean, found \"max\"");
}

TEST(Import, RejectsWhatItCannotUse) {
  const Scratch scratch;
  const std::string output = scratch / "net.onnx";
  expect_complaint(run_annulus(scratch, {"import", checkpoint("dino_plain.pth"), "--arch", "lenet", "-o", output}), 2,
                   "lenet");
  expect_complaint(run_annulus(scratch, {"import", scratch / "none.pth", "--arch", "vit-s/16", "-o", output}), 5,
                   "none.pth");
  std::ofstream(scratch / "junk.pth") << "this is no checkpoint";
  expect_complaint(run_annulus(scratch, {"import", scratch / "junk.pth", "--arch", "vit-s/16", "-o", output}), 4,
                   "junk.pth");
  expect_complaint(run_annulus(scratch, {"import", checkpoint("dino_plain.pth"), "--arch", "resnet50", "-o", output}),
                   3, "dino_plain.pth");
  EXPECT_FALSE(std::filesystem::exists(output));
}

}  // namespace
}  // namespace annulus
