// --precision on the command line: int8 networks are made once, kept, followed by models, and never mixed unasked.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "annulus/vision/image/svg.h"
#include "tests/fixtures/needs_onnxruntime.h"
#include "tests/fixtures/own_cache.h"
#include "tests/fixtures/program.h"
#include "tests/fixtures/small_network.h"

namespace annulus {
namespace {

class Precisions : public NeedsOnnxRuntime {
 protected:
  void SetUp() override {
    NeedsOnnxRuntime::SetUp();
    if (IsSkipped()) return;
    cache_.emplace(scratch_ / "cache");
    std::ofstream(scratch_ / "small.onnx", std::ios::binary) << small_network();
    const char* names[] = {"blue", "green", "red"};
    for (std::size_t i = 0; i < 24; ++i) {
      const std::string file = scratch_ / fmt::format("photos/{}/{:02}.png", names[i % 3], i);
      std::filesystem::create_directories(std::filesystem::path(file).parent_path());
      const std::string svg = fmt::format(
          R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect x="{}" width="6" height="5" fill="rgb({},{},{})"/></svg>)svg",
          i % 4, i % 3 == 2 ? 240 : 5 * i, i % 3 == 1 ? 240 : 5 * i, i % 3 == 0 ? 240 : 5 * i);
      const auto png = render_svg(svg, 16, "test picture");
      std::ofstream(file, std::ios::binary)
          .write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
    }
  }
  Outcome run(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--backbone", scratch_ / "small.onnx"});
    return run_annulus(scratch_, std::move(arguments));
  }
  Outcome extract(const std::string& precision, const std::string& output) {
    return run({"extract", scratch_ / "photos", "--precision", precision, "--json", "-o", scratch_ / output});
  }

  Scratch scratch_;
  std::optional<OwnCache> cache_;
};

TEST_F(Precisions, ModelsFollowTheirsAndRejectTheOther) {
  const Outcome int8 = extract("int8", "int8.safetensors");
  ASSERT_EQ(int8.exit_code, 0) << int8.err;
  EXPECT_NE(int8.err.find("small in int8, ranged on 20 photos"), std::string::npos) << int8.err;
  const auto json = nlohmann::json::parse(int8.out);
  EXPECT_EQ(json["precision"], "int8");
  const Outcome exact = extract("float32", "float32.safetensors");
  ASSERT_EQ(exact.exit_code, 0) << exact.err;
  EXPECT_EQ(nlohmann::json::parse(exact.out)["precision"], "float32");
  // Made once.
  const Outcome again = extract("int8", "again.safetensors");
  EXPECT_EQ(again.err.find("ranged on"), std::string::npos) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out)["backbone_sha256"], json["backbone_sha256"]);

  const std::string model = scratch_ / "model.safetensors";
  const Outcome fit = run(
      {"fit", scratch_ / "photos", "--precision", "int8", "--recipe", "baseline", "--no-calibrate", "-q", "-o", model});
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  const auto predict = [&](const std::string& input, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"predict", model, scratch_ / input, "-q"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  EXPECT_EQ(predict("photos").exit_code, 0) << predict("photos").err;
  EXPECT_EQ(predict("int8.safetensors").exit_code, 0);
  const Outcome mixed = predict("float32.safetensors");
  EXPECT_NE(mixed.exit_code, 0);
  EXPECT_NE(mixed.err.find("encoded in int8, and "), std::string::npos) << mixed.err;
  EXPECT_NE(mixed.err.find("--precision float32"), std::string::npos) << mixed.err;
  EXPECT_EQ(predict("float32.safetensors", {"--precision", "float32"}).exit_code, 0);
  EXPECT_EQ(predict("photos", {"--precision", "float32"}).exit_code, 0);
  EXPECT_NE(predict("photos", {"--precision", "int4"}).exit_code, 0);
}

TEST_F(Precisions, RangesMayComeFromOtherPhotos) {
  const Outcome made =
      run_annulus(scratch_, {"backbones", "quantize", scratch_ / "small.onnx", scratch_ / "photos", "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto json = nlohmann::json::parse(made.out);
  EXPECT_EQ(json["photos"], 20);
  EXPECT_TRUE(std::filesystem::exists(json["file"].get<std::string>()));
  EXPECT_GT(json["gain"].get<double>(), 0);
  const Outcome used = extract("int8", "int8.safetensors");
  EXPECT_EQ(nlohmann::json::parse(used.out)["backbone_sha256"], json["sha256"]);
  EXPECT_EQ(used.err.find("ranged on"), std::string::npos) << used.err;
}

}  // namespace
}  // namespace annulus
