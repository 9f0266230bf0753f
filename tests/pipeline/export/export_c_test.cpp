// Names and sizes that a C header cannot have are rejected before anything is written.
#include "annulus/pipeline/export/export_c.h"

#include <gtest/gtest.h>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

Model small_model(std::size_t classes, std::size_t dimension) {
  Model model;
  model.head = initial_head<float>(HeadKind::kLinear, classes, dimension, 3, 0);
  for (std::size_t c = 0; c < classes; ++c) model.class_names.push_back("c" + std::to_string(c));
  return model;
}

TEST(ExportC, TheSameModelGivesTheSameText) {
  const ScratchFolder folder;
  const Model model = small_model(3, 5);
  export_c(model, "birds", folder / "a.h");
  export_c(model, "birds", folder / "b.h");
  const std::string text = content_of(folder / "a.h");
  EXPECT_EQ(text, content_of(folder / "b.h"));
  EXPECT_NE(text.find("#define BIRDS_CLASSES 3\n#define BIRDS_FEATURES 5\n"), std::string::npos);
  EXPECT_NE(text.find("int birds_predict(const float* features, float* probabilities)"), std::string::npos);
  EXPECT_EQ(text.find("NAME_"), std::string::npos);
  EXPECT_EQ(text.find("CAPS_"), std::string::npos);
}

TEST(ExportC, NamesAreAsciiAndHaveNoSpecialCharacters) {
  const ScratchFolder folder;
  Model model = small_model(2, 2);
  model.class_names = {"Bülbül 1\"\\\n",
                       "a?"
                       "?/b NAME_x"};
  export_c(model, "n", folder / "a.h");
  const std::string text = content_of(folder / "a.h");
  EXPECT_NE(text.find("\"B\\303\\274lb\\303\\274l 1\\042\\134\\012\""), std::string::npos) << text;
  EXPECT_NE(text.find("\"a\\077\\077/b NAME_x\""), std::string::npos) << text;
}

TEST(ExportC, RejectsNamesThatAreNoIdentifiers) {
  const ScratchFolder folder;
  for (const std::string& name : {std::string(), std::string("1a"), std::string("a-b"), std::string("a b"),
                                  std::string("_a"), std::string("ä"), std::string(65, 'a')}) {
    expect_error(ErrorKind::kUsage, "begins with a letter", [&] { export_c(small_model(2, 2), name, folder / "a.h"); });
  }
  EXPECT_EQ(folder.files(), 0U);
}

TEST(ExportC, RejectsWhatCompilersDoNotTake) {
  const ScratchFolder folder;
  expect_error(ErrorKind::kInput, "at most 8000000 numbers for a C header, found 8001000",
               [&] { export_c(small_model(1000, 8001), "n", folder / "a.h"); });
  Model wordy = small_model(2, 2);
  wordy.class_names[1] = std::string(4096, 'a');
  expect_error(ErrorKind::kInput, "4095 bytes", [&] { export_c(wordy, "n", folder / "a.h"); });
  EXPECT_EQ(folder.files(), 0U);
}

}  // namespace
}  // namespace annulus
