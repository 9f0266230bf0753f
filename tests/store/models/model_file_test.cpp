// Models survive the disk bit for bit, and files that are not quite models are rejected.
#include "annulus/store/models/model_file.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <limits>

#include "annulus/store/formats/safetensors.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/sample_features.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

Model sample_model(HeadKind kind) {
  Model model;
  model.head = initial_head<float>(kind, 3, 5, 42, 0);
  model.class_names = {"auk", "Bülbül", "say \"hi\""};
  model.epsilon = 0.1 + 0.2;
  model.training = record_of(recipe_named("default"));
  model.training.seed = ~std::uint64_t{0};
  model.training.training_accuracy = 0.1 + 0.2;
  model.training.updates.classes_added = 3;
  model.training.notes = {{"python_labels", "<i8"}};
  model.provenance = {{"backbone", "tiny"}};
  return model;
}

TEST(ModelFile, RoundTripIsExact) {
  const ScratchFolder folder;
  for (const HeadKind kind : {HeadKind::kCosine, HeadKind::kLinear}) {
    for (const double epsilon : {0.0, 0.1 + 0.2, 1e-300, std::numeric_limits<double>::max(), 5e-324}) {
      Model written = sample_model(kind);
      written.epsilon = epsilon;
      write_model(written, folder / "model");
      const Model read = read_model(folder / "model");
      EXPECT_EQ(read.head.kind, kind);
      ASSERT_EQ(read.head.classes(), 3U);
      ASSERT_EQ(read.head.dimension(), 5U);
      EXPECT_EQ(std::memcmp(read.head.direction.data(), written.head.direction.data(), 15 * sizeof(float)), 0);
      EXPECT_EQ(read.head.gain, written.head.gain);
      EXPECT_EQ(read.head.bias, written.head.bias);
      EXPECT_EQ(read.class_names, written.class_names);
      EXPECT_EQ(read.epsilon, epsilon);
      EXPECT_EQ(read.training, written.training);
      EXPECT_EQ(read.provenance, written.provenance);
    }
  }
  EXPECT_EQ(folder.files(), 1U);
}

TEST(ModelFile, KeepsItsTransform) {
  const ScratchFolder folder;
  for (const float power : {1.0F, 0.6F}) {
    Model written = sample_model(HeadKind::kCosine);
    written.head.transform = {power, {0.1F, -0.2F, 0.3F, 0.0F, 0.5F}, {}};
    write_model(written, folder / "model");
    const Model read = read_model(folder / "model");
    EXPECT_EQ(read.head.transform.power, power);
    EXPECT_EQ(read.head.transform.centre, written.head.transform.centre);
  }
}

Model model_with_support() {
  Model model = sample_model(HeadKind::kCosine);
  model.support.features = Matrix<float>(2, 5);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 5; ++j) model.support.features(i, j) = 0.25F * static_cast<float>(i + j + 1);
  }
  model.support.labels = {2, 0};
  model.support.paths = {"a.jpg", "Bülbül/b.jpg"};
  return model;
}

TEST(ModelFile, KeepsItsSupportSet) {
  const ScratchFolder folder;
  Model written = model_with_support();
  for (const bool paths : {true, false}) {
    if (!paths) written.support.paths.clear();
    write_model(written, folder / "model");
    const Model read = read_model(folder / "model");
    ASSERT_EQ(read.support.rows(), 2U);
    EXPECT_EQ(std::memcmp(read.support.features.data(), written.support.features.data(), 10 * sizeof(float)), 0);
    EXPECT_EQ(read.support.labels, written.support.labels);
    EXPECT_EQ(read.support.paths, written.support.paths);
  }
}

TEST(ModelFile, KeepsTheGroupsOfItsClasses) {
  Model written = sample_model(HeadKind::kCosine);
  EXPECT_EQ(model_bytes(written).find("parents"), std::string::npos);
  written.parents = {{"auk", "birds"}, {"Bülbül", "birds"}, {"birds", "animals"}};
  written.group_sharpness = 0.1 + 0.2;
  const ScratchFolder folder;
  write_model(written, folder / "model");
  EXPECT_EQ(read_model(folder / "model").parents, written.parents);
  EXPECT_EQ(read_model(folder / "model").group_sharpness, 0.1 + 0.2);
  written.parents["animals"] = "birds";
  EXPECT_THROW(model_bytes(written), Error) << "a group within itself";
  written.parents = {{"auk", "Bülbül"}};
  EXPECT_THROW(model_bytes(written), Error) << "a class as a group";
}

TEST(ModelFile, RejectsSupportSetThatDoNotFit) {
  const ScratchFolder folder;
  const auto rejected = [&](std::string_view words, const std::function<void(Model&)>& change) {
    Model model = model_with_support();
    change(model);
    expect_error(ErrorKind::kInput, words, [&] { write_model(model, folder / "model"); });
  };
  rejected("2 labels of support examples, found 1", [](Model& model) { model.support.labels.pop_back(); });
  rejected("2 paths of support examples, found 1", [](Model& model) { model.support.paths.pop_back(); });
  rejected("from 0 to 2, found 3", [](Model& model) { model.support.labels[1] = 3; });
  rejected("support examples of 5 dimensions, found 4", [](Model& model) {
    model.support.features = Matrix<float>(2, 4);
    model.support.features(0, 0) = model.support.features(1, 0) = 1.0F;
  });
  rejected("found none at row 1", [](Model& model) {
    for (float& value : model.support.features.row(1)) value = 0.0F;
  });
}

TEST(ModelFile, KeepsItsTrainedHeadBesideItsRows) {
  const ScratchFolder folder;
  for (const HeadKind kind : {HeadKind::kCosine, HeadKind::kLinear}) {
    Model written = model_with_support();
    written.trained = sample_model(kind).head.clone();
    written.trained->direction(1, 2) = 7.5F;
    write_model(written, folder / "model");
    const Model read = read_model(folder / "model");
    ASSERT_TRUE(read.trained.has_value());
    EXPECT_EQ(read.trained->kind, kind);
    EXPECT_EQ(std::memcmp(read.trained->direction.data(), written.trained->direction.data(), 15 * sizeof(float)), 0);
    EXPECT_EQ(read.trained->gain, written.trained->gain);
    EXPECT_EQ(read.trained->bias, written.trained->bias);
    written.support = {};
    write_model(written, folder / "model");
    EXPECT_FALSE(read_model(folder / "model").trained.has_value());
    written.trained->direction = Matrix<float>(2, 5);
    expect_error(ErrorKind::kInput, "expected a trained head of 3 classes",
                 [&] { write_model(written, folder / "model"); });
  }
}

Model model_with_unknown_rule() {
  Model model = model_with_support();
  model.unknown.weights = {1.0F, -0.5F, 0.25F, 3.0F, 2.0F, 1.5F};
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) model.unknown.quantiles.push_back(0.1F * static_cast<float>(i));
  for (std::size_t i = 0; i < 2 * model.head.dimension(); ++i) {
    model.unknown.axes.push_back(0.2F * static_cast<float>(i));
  }
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) model.unknown.caught.push_back(0.009F * static_cast<float>(i));
  return model;
}

TEST(ModelFile, KeepsItsTemperatureAndHowItKnowsUnknownInputs) {
  const ScratchFolder folder;
  Model written = model_with_unknown_rule();
  written.temperature = 0.1 + 0.2;
  write_model(written, folder / "model");
  const Model read = read_model(folder / "model");
  EXPECT_EQ(read.temperature, written.temperature);
  EXPECT_EQ(read.unknown.weights, written.unknown.weights);
  EXPECT_EQ(read.unknown.quantiles, written.unknown.quantiles);
  EXPECT_EQ(read.unknown.axes, written.unknown.axes);
  EXPECT_EQ(read.unknown.caught, written.unknown.caught);
  written.unknown.caught.clear();  // as in files of earlier versions
  write_model(written, folder / "model");
  EXPECT_TRUE(read_model(folder / "model").unknown.caught.empty());
  EXPECT_FALSE(read_model(folder / "model").unknown.empty());
  EXPECT_EQ(read.support.labels, written.support.labels);
  EXPECT_EQ(std::memcmp(read.support.features.data(), written.support.features.data(), 10 * sizeof(float)), 0);

  write_model(sample_model(HeadKind::kCosine), folder / "plain");
  const Safetensors plain(map_file(folder / "plain"));
  EXPECT_EQ(plain.metadata_or("temperature", "absent"), "absent");
  EXPECT_EQ(plain.find("unknown_weights"), nullptr);
  EXPECT_EQ(plain.find("unknown_quantiles"), nullptr);
  EXPECT_EQ(plain.find("unknown_axes"), nullptr);
  EXPECT_EQ(read_model(folder / "plain").temperature, 1.0);
  EXPECT_TRUE(read_model(folder / "plain").unknown.empty());
}

TEST(ModelFile, RejectsRulesThatMakeNoSense) {
  const ScratchFolder folder;
  const auto rejected = [&](std::string_view words, const std::function<void(Model&)>& change) {
    Model model = model_with_unknown_rule();
    change(model);
    expect_error(ErrorKind::kInput, words, [&] { write_model(model, folder / "model"); });
  };
  rejected("temperature above 0, found 0", [](Model& model) { model.temperature = 0.0; });
  rejected("temperature above 0, found nan", [](Model& model) { model.temperature = std::nan(""); });
  rejected("101 numbers in \"unknown_quantiles\", found 100", [](Model& model) { model.unknown.quantiles.pop_back(); });
  rejected("at most 16 rows of", [](Model& model) { model.unknown.axes.pop_back(); });
  rejected("at most 16 rows of", [](Model& model) { model.unknown.axes.resize(17 * model.head.dimension(), 0.0F); });
  rejected("\"unknown_axes\"", [](Model& model) { model.unknown.axes[1] = std::nanf(""); });
  rejected("ascending order", [](Model& model) { model.unknown.quantiles[50] = -1.0F; });
  rejected("from 0 to 1 in ascending order in \"unknown_caught\"",
           [](Model& model) { model.unknown.caught[50] = 0.0F; });
  rejected("from 0 to 1 in ascending order in \"unknown_caught\"",
           [](Model& model) { model.unknown.caught[100] = 1.5F; });
  rejected("from 0 to 1 in ascending order in \"unknown_caught\"",
           [](Model& model) { model.unknown.caught.back() = std::numeric_limits<float>::quiet_NaN(); });
  rejected("101 numbers from 0 to 1", [](Model& model) { model.unknown.caught.pop_back(); });
  rejected("NaN or infinity", [](Model& model) { model.unknown.weights[3] = std::nanf(""); });
  rejected("NaN or infinity",
           [](Model& model) { model.unknown.quantiles.back() = std::numeric_limits<float>::infinity(); });
}

TEST(ModelFile, RejectsToWriteWhatItCouldNotRead) {
  const ScratchFolder folder;
  const auto rejected = [&](std::string_view words, const std::function<void(Model&)>& change) {
    Model model = sample_model(HeadKind::kCosine);
    change(model);
    expect_error(ErrorKind::kInput, words, [&] { write_model(model, folder / "model"); });
  };
  rejected("\"gain\", one for each class, found 2", [](Model& model) { model.head.gain.pop_back(); });
  rejected("\"centre\", one for each feature, found 2", [](Model& model) { model.head.transform.centre = {1, 2}; });
  rejected("infinity in \"centre\"",
           [](Model& model) { model.head.transform.centre.assign(5, std::numeric_limits<float>::infinity()); });
  rejected("3 class names", [](Model& model) { model.class_names.pop_back(); });
  rejected("\"auk\" twice", [](Model& model) { model.class_names[1] = "auk"; });
  rejected("UTF-8", [](Model& model) { model.class_names[1] = "\xFE"; });
  rejected("UTF-8", [](Model& model) { model.training.notes["x"] = "\xFE"; });
  rejected("UTF-8", [](Model& model) { model.training.shots = "\xFE"; });
  rejected("found inf in \"learning_rate\"",
           [](Model& model) { model.training.learning_rate = std::numeric_limits<double>::infinity(); });
  rejected("direction of class 1", [](Model& model) { model.head.direction(1, 2) = std::nanf(""); });
  rejected("gain of class 2", [](Model& model) { model.head.gain[2] = std::numeric_limits<float>::infinity(); });
  rejected("direction of class 0 is zero", [](Model& model) {
    for (float& number : model.head.direction.row(0)) number = 0.0F;
  });
  rejected("epsilon", [](Model& model) { model.epsilon = -1.0; });
  rejected("epsilon", [](Model& model) { model.epsilon = std::nan(""); });
  rejected("found none", [](Model& model) { model.head.direction = {}; });
  EXPECT_EQ(folder.files(), 0U);
}

// A model file with some metadata replaced (or, by an empty text, left out).
class Variant {
 public:
  std::map<std::string, std::string> metadata = {
      {"format", "annulus-model"}, {"version", "2"},   {"head", "cosine"},  {"class_names", "[\"a\",\"b\"]"},
      {"epsilon", "1.5"},          {"training", "{}"}, {"provenance", "{}"}};
  std::vector<TensorLayout> layout = {{"direction", ElementType::kF32, {2, 1}}, {"gain", ElementType::kF32, {2}}};
  std::vector<float> numbers = {1.0F, 2.0F, 3.0F, 4.0F};

  Model read() const {
    const ScratchFolder folder;
    SafetensorsWriter writer(folder / "model", layout, metadata);
    writer.write(std::as_bytes(std::span(numbers)));
    writer.commit();
    return read_model(folder / "model");
  }
};

TEST(ModelFile, TheUnchangedVariantIsAModel) {
  const Model model = Variant().read();
  EXPECT_EQ(model.epsilon, 1.5);
  EXPECT_EQ(model.head.gain, (std::vector<float>{3.0F, 4.0F}));
}

TEST(ModelFile, RulesOfEarlierVersionsAreReadOrLeftOut) {
  const auto with_weights = [](std::size_t count) {
    Variant variant;
    variant.layout.push_back({"unknown_weights", ElementType::kF32, {count}});
    variant.layout.push_back({"unknown_quantiles", ElementType::kF32, {kUnknownQuantiles}});
    for (std::size_t i = 0; i < count; ++i) variant.numbers.push_back(static_cast<float>(i + 1));
    variant.numbers.resize(variant.numbers.size() + kUnknownQuantiles, 1.0F);
    return variant.read().unknown;
  };
  using Weights = std::array<float, kUnknownParts>;
  EXPECT_TRUE(with_weights(4).empty());
  EXPECT_EQ(with_weights(5).weights, (Weights{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 0.0F}));
  EXPECT_EQ(with_weights(5).quantiles.size(), kUnknownQuantiles);
  EXPECT_EQ(with_weights(6).weights, (Weights{1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}));
}

TEST(ModelFile, RejectsOtherMetadata) {
  const auto rejected = [](const std::string& key, const std::string& value, std::string_view words) {
    Variant variant;
    variant.metadata[key] = value;
    if (value.empty()) variant.metadata.erase(key);
    expect_error(ErrorKind::kFormat, words, [&] { variant.read(); });
  };
  rejected("format", "annulus-features", "expected an Annulus model");
  rejected("format", "", "expected an Annulus model");
  rejected("version", "3", "found \"3\"");
  rejected("power", "maybe", "expected power to be a number, found \"maybe\"");
  rejected("power", "1.5", "not above 1, found 1.5");
  for (const char* const text : {"nan", "0", "-1", "warm"}) rejected("temperature", text, "temperature");
  rejected("head", "quadratic", "found \"quadratic\"");
  rejected("head", "linear", "\"gain\", which a linear head does not have");
  rejected("class_names", "[\"a\"]", "expected 2 class names");
  rejected("class_names", "[\"a\",\"a\"]", "\"a\" twice");
  rejected("class_names", "[\"a\",1]", "found a number");
  for (const char* const text : {"nan", "inf", "-1", "1.5x", " 1", "1e999"}) rejected("epsilon", text, "epsilon");
  rejected("training", "[]", "JSON object");
  rejected("training", "{\"seed\":null}", "found null");
  rejected("training", "{\"seed\":[]}", "found an array");
  rejected("training", "{\"seed\":1,\"seed\":2}", "\"seed\" twice");
  rejected("training", "{\"seed\":\"1\"}", "expected \"seed\" to be a number of 0 or more");
  rejected("training", "{\"learning_rate\":1e999}", "invalid text");
  rejected("provenance", "{\"a\":{}}", "found an object");
  for (const char* const key : {"version", "head", "class_names", "epsilon", "training", "provenance"}) {
    rejected(key, "", std::string("expected the entry \"") + key + "\"");
  }
}

TEST(ModelFile, RejectsOtherArrays) {
  const auto rejected = [](std::string_view words, const std::function<void(Variant&)>& change) {
    Variant variant;
    change(variant);
    expect_error(ErrorKind::kFormat, words, [&] { variant.read(); });
  };
  rejected("expected \"direction\" as a matrix", [](Variant& v) { v.layout[0].shape = {2}; });
  rejected("expected \"gain\" as a list", [](Variant& v) { v.layout[1].shape = {1, 2}; });
  rejected("expected \"gain\" as a list of F32, found I32", [](Variant& v) { v.layout[1].type = ElementType::kI32; });
  rejected("expected 1 numbers in \"gain\"", [](Variant& v) { v.layout[0].shape = {1, 2}; });
  rejected("expected an array \"direction\"", [](Variant& v) { v.layout = {{"gain", ElementType::kF32, {4}}}; });
  rejected("array \"other\"", [](Variant& v) { v.layout[0].name = "other"; });
  rejected("expected \"trained_direction\" together with", [](Variant& v) {
    v.layout.push_back({"trained_gain", ElementType::kF32, {2}});
    v.numbers.insert(v.numbers.end(), {1.0F, 1.0F});
  });
  rejected("expected a trained head of 2 classes", [](Variant& v) {
    v.layout.push_back({"trained_direction", ElementType::kF32, {1, 1}});
    v.layout.push_back({"trained_gain", ElementType::kF32, {1}});
    v.numbers.insert(v.numbers.end(), {1.0F, 1.0F});
  });
  rejected("NaN or infinity", [](Variant& v) {
    v.layout.push_back({"trained_direction", ElementType::kF32, {2, 1}});
    v.layout.push_back({"trained_bias", ElementType::kF32, {2}});
    v.numbers.insert(v.numbers.end(), {1.0F, 1.0F, std::numeric_limits<float>::infinity(), 1.0F});
  });
  rejected("expected an array \"unknown_quantiles\"", [](Variant& v) {
    v.layout.push_back({"unknown_weights", ElementType::kF32, {4}});
    v.numbers.resize(8, 1.0F);
  });
  rejected("expected 4 to 6 numbers in \"unknown_weights\", found 3", [](Variant& v) {
    v.layout.push_back({"unknown_weights", ElementType::kF32, {3}});
    v.layout.push_back({"unknown_quantiles", ElementType::kF32, {101}});
    v.numbers.resize(108, 1.0F);
  });
  rejected("expected 4 to 6 numbers in \"unknown_weights\", found 7", [](Variant& v) {
    v.layout.push_back({"unknown_weights", ElementType::kF32, {7}});
    v.layout.push_back({"unknown_quantiles", ElementType::kF32, {101}});
    v.numbers.resize(112, 1.0F);
  });
  rejected("NaN or infinity in the direction of class 1", [](Variant& v) { v.numbers[1] = std::nanf(""); });
  rejected("NaN or infinity in the gain of class 0", [](Variant& v) { v.numbers[2] = std::nanf(""); });
  rejected("direction of class 0 is zero", [](Variant& v) { v.numbers[0] = 0.0F; });
}

}  // namespace
}  // namespace annulus
