// Groups of classes from names and files.
#include "annulus/store/models/class_groups.h"

#include <gtest/gtest.h>

#include <vector>

#include "annulus/base/error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::string sentence_of(const std::vector<std::string>& names, const ClassGroupOptions& options) {
  try {
    class_groups(names, options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(ClassGroups, ComeFromPathsAndFromAFile) {
  const ScratchFolder scratch;
  const std::vector<std::string> paths{"birds/wren", "birds/robin"};
  EXPECT_TRUE(class_groups(paths, {}).empty());
  EXPECT_EQ(class_groups(paths, {true, {}}), (ClassParents{{"birds/wren", "birds"}, {"birds/robin", "birds"}}));
  const auto file = scratch.write("parents.csv", "name,parent\r\nbirds,animals\n");
  EXPECT_EQ(class_groups(paths, {true, file}).at("birds"), "animals");
  const std::vector<std::string> plain{"wren", "oak, old"};
  const auto quoted = scratch.write("quoted.csv", "wren,birds\n\"oak, old\",trees\nwren,birds\n");
  EXPECT_EQ(class_groups(plain, {false, quoted}), (ClassParents{{"wren", "birds"}, {"oak, old", "trees"}}));
}

TEST(ClassGroups, FaultsAreSentencesThatNameTheFileAndTheLine) {
  const ScratchFolder scratch;
  const std::vector<std::string> names{"wren", "oak"};
  const auto of_text = [&](std::string_view text) { return sentence_of(names, {false, scratch.write("p.csv", text)}); };
  EXPECT_NE(of_text("wren,birds\nwrenn,birds\n").find("\"wrenn\", which is neither"), std::string::npos);
  EXPECT_NE(of_text("wren,birds\noak\n").find("p.csv:2: expected a name and its group"), std::string::npos);
  EXPECT_NE(of_text("wren,birds\nwren,trees\n").find("p.csv:2: expected one group for \"wren\""), std::string::npos);
  EXPECT_NE(of_text("").find("expected classes with groups"), std::string::npos);
  EXPECT_NE(of_text("wren,birds\nbirds,wren\n"), "");
  EXPECT_NE(sentence_of(names, {true, {}}).find("expected classes with groups"), std::string::npos);
  EXPECT_NE(sentence_of(names, {false, scratch / "none.csv"}), "");
}

}  // namespace
}  // namespace annulus
