// Model cards say what the record says, and no class name can break out of its place.
#include "annulus/pipeline/export/model_card.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "annulus/pipeline/backbones/backbone_catalogue.h"

namespace annulus {
namespace {

Model recorded_model() {
  Model model;
  model.head = initial_head<float>(HeadKind::kCosine, 2, 4, 1, 0);
  model.class_names = {"auk", "puffin"};
  model.epsilon = 1.25;
  model.training.virtual_examples = true;
  model.training.examples = 7;
  model.training.training_accuracy = 0.98765;
  model.training.virtual_accuracy = 0.5;
  const BackboneEntry& entry = *find_backbone("mobilenet-0.25");
  model.provenance = {{"backbone", entry.name},
                      {"backbone_sha256", entry.onnx_sha256},
                      {"preprocessing", "unit"},
                      {"source", "/somewhere/private/photos/"}};
  model.support.features = Matrix<float>(3, 4);
  model.support.labels = {0, 1, 1};
  return model;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ModelCard, AnUpdatedModelSaysThatItsFirstExamplesAreNotAll) {
  Model model = recorded_model();
  EXPECT_TRUE(has(model_card(model, "birds"), ", learnt from 7 labelled ones.")) << model_card(model, "birds");
  model.training.updates.classes_added = 1;
  EXPECT_TRUE(has(model_card(model, "birds"), ", learnt from 7 labelled ones at first."));
  EXPECT_TRUE(has(model_card(model, "birds"), "it keeps 3 examples now."));
  model.support = {};
  EXPECT_TRUE(has(model_card(model, "birds"), "were added or removed later, without a new fit."));
}

TEST(ModelCard, SaysWhatIsKnown) {
  const std::string card = model_card(recorded_model(), "birds.safetensors");
  EXPECT_TRUE(card.starts_with("---\nlicense: unknown"));
  EXPECT_TRUE(has(card, "\nbackbone: \"mobilenet-0.25\"\nbackbone_license: \"Apache-2.0\"\n"));
  EXPECT_TRUE(has(card, "# birds.safetensors\n"));
  EXPECT_TRUE(has(card, "\n  - ibm2\n"));
  EXPECT_TRUE(has(card, "| examples | 7 |\n| training\\_accuracy | 0.98765 |\n"));
  EXPECT_TRUE(has(card, "epsilon 1.25"));
  EXPECT_TRUE(has(card, "| 98.77 % |"));
  EXPECT_TRUE(has(card, "| auk | 1 |\n| puffin | 2 |"));
  EXPECT_TRUE(has(card, "Classes had 1 to 2 examples"));
  EXPECT_TRUE(has(card, "Learnt from photos."));
  EXPECT_FALSE(has(card, "private"));  // folders of the maker's machine are nobody's business
  EXPECT_TRUE(has(card, "trained on ImageNet"));
  EXPECT_EQ(card, model_card(recorded_model(), "birds.safetensors"));
}

TEST(ModelCard, SaysWhatWasHeldOutAndWhoseTheDataAre) {
  Model model = recorded_model();
  EXPECT_TRUE(has(model_card(model, "m"), "is not known: the record holds no accuracy"));
  model.training.held_out = {100, 0.8, 0.0625};
  model.provenance["data_licence"] = "CC-BY-4.0";
  const std::string card = model_card(model, "m");
  // Wilson's interval for 80 of 100.
  EXPECT_TRUE(has(card, "| 100 training examples, each held out of a fit | 80.00 % (95 % interval 71.1 to 86.7 %) |"));
  EXPECT_TRUE(has(card, "was 6.25 %"));
  EXPECT_FALSE(has(card, "is not known: the record"));
  EXPECT_TRUE(card.starts_with("---\nlicense: \"CC-BY-4.0\""));
  EXPECT_TRUE(has(card, "| training data | CC-BY-4.0 |"));
}

TEST(ModelCard, SaysHowManyUnknownInputsAreCaught) {
  Model model = recorded_model();
  EXPECT_TRUE(has(model_card(model, "m"), "Every input gets one of its classes"));
  model.unknown.quantiles.assign(kUnknownQuantiles, 0.0F);
  EXPECT_TRUE(has(model_card(model, "m"), "how many unknown inputs it catches was not measured"));
  for (std::size_t i = 0; i < kUnknownQuantiles; ++i) {
    model.unknown.caught.push_back(static_cast<float>(i) / static_cast<float>(kUnknownQuantiles - 1));
  }
  EXPECT_TRUE(has(model_card(model, "m"), "it catches about 1 % at a rate of 1 %, about 5 % at a rate of 5 %, "));
  EXPECT_FALSE(has(model_card(model, "m"), "was not measured"));
}

TEST(ModelCard, SaysWhatIsNotKnown) {
  Model model = recorded_model();
  model.support = {};
  model.provenance["backbone"] = "mine.onnx";
  model.provenance["backbone_sha256"] = "00";
  const std::string card = model_card(model, "m");
  EXPECT_TRUE(has(card, "keeps no training examples"));
  EXPECT_TRUE(has(card, "| auk |\n"));
  EXPECT_TRUE(has(card, "not known to Annulus"));
  model.provenance.clear();
  model.training = {};
  const std::string bare = model_card(model, "m");
  EXPECT_FALSE(has(bare, "backbone:"));
  EXPECT_FALSE(has(bare, "metrics:"));
  EXPECT_TRUE(has(bare, "not recorded"));
}

// A backbone of another checksum under a known name is not the known one.
TEST(ModelCard, LicencesBelongToChecksums) {
  Model model = recorded_model();
  model.provenance["backbone_sha256"] = "00";
  EXPECT_FALSE(has(model_card(model, "m"), "backbone_license"));
}

TEST(ModelCard, NamesStayInTheirPlaces) {
  Model model = recorded_model();
  model.class_names = {"a\n---\nlicense: mit", "\"|</details> `x` \\ 'q': Ü"};
  model.training.notes["note"] = "x |\n# Heading";
  model.provenance["source"] = "`rm`\n# Heading";
  const std::string card = model_card(model, "t\n# Heading");
  const auto end = card.find("\n---\n", 4);
  ASSERT_NE(end, std::string::npos);
  const std::string front = card.substr(0, end);
  EXPECT_FALSE(has(front, "\nlicense: mit"));
  const auto at = front.find("\nclasses: ");
  ASSERT_NE(at, std::string::npos);
  const auto parsed = nlohmann::json::parse(front.substr(at + 10, front.find('\n', at + 1) - at - 10));
  EXPECT_EQ(parsed.get<std::vector<std::string>>(), model.class_names);
  const std::string body = card.substr(end + 5);
  EXPECT_FALSE(has(body, "\n# Heading"));
  EXPECT_FALSE(has(body, "</details>"));
  EXPECT_TRUE(has(body, "| a\\\\x0a---\\\\x0alicense: mit | 1 |")) << body;
}

TEST(ModelCard, ListsManyClassesInOneParagraph) {
  Model model;
  model.head = initial_head<float>(HeadKind::kLinear, 51, 2, 1, 0);
  for (int c = 0; c < 51; ++c) model.class_names.push_back(std::to_string(c));
  EXPECT_TRUE(has(model_card(model, "m"), "<summary>51 classes</summary>\n\nThey are 0, 1, 2,"));
}

}  // namespace
}  // namespace annulus
