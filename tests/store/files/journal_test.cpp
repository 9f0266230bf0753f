// What append() returned from is read back; a torn end is dropped, damage before it is rejected.
#include "annulus/store/files/journal.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  const Journal journal(file, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

TEST(Journal, GivesBackWhatWasAppended) {
  const ScratchFolder folder;
  {
    Journal journal(folder / "j", [](std::string_view) { FAIL(); });
    journal.append("one");
    journal.append("");
    journal.append("two words");
  }
  EXPECT_EQ(lines_of(folder / "j"), (std::vector<std::string>{"one", "", "two words"}));
}

TEST(Journal, DropsATornEndWhereverItWasTorn) {
  const ScratchFolder folder;
  {
    Journal journal(folder / "j", [](std::string_view) {});
    journal.append("one");
    journal.append("two");
  }
  const std::string whole = content_of(folder / "j");
  const std::size_t first = whole.find('\n') + 1;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    folder.write("j", whole.substr(0, size));
    const std::size_t expected = size < first ? 0 : 1;
    EXPECT_EQ(lines_of(folder / "j").size(), expected) << size;
    {
      Journal journal(folder / "j", [](std::string_view) {});
      journal.append("after");
    }
    EXPECT_EQ(lines_of(folder / "j").size(), expected + 1) << size;
  }
}

TEST(Journal, RejectsDamageBeforeTheEnd) {
  const ScratchFolder folder;
  {
    Journal journal(folder / "j", [](std::string_view) {});
    journal.append("one");
    journal.append("two");
  }
  std::string damaged = content_of(folder / "j");
  damaged[damaged.find("one")] = 'O';
  folder.write("j", damaged);
  expect_error(ErrorKind::kFormat, "found line 1 damaged", [&] { lines_of(folder / "j"); });
}

TEST(Journal, IsReplacedAtOnceAndGoesOn) {
  const ScratchFolder folder;
  Journal journal(folder / "j", [](std::string_view) {});
  journal.append("one");
  const std::string state = "all";
  journal.replace({&state, 1});
  journal.append("two");
  EXPECT_EQ(lines_of(folder / "j"), (std::vector<std::string>{"all", "two"}));
}

}  // namespace
}  // namespace annulus
