// Changes, undo and checksums of a project's state, without a file.
#include "studio_engine/project/project_state.h"

#include <gtest/gtest.h>

#include "annulus/base/error.h"
#include "tests/fixtures/expect_error.h"

namespace annulus::studio {
namespace {

Photo photo(char digit) {
  return {std::string(16, digit), std::string(64, digit), "png", std::string("photo ") + digit, {}};
}

Change adding(const std::string& name, const std::string& digits) {
  Change change{Change::Kind::kDo, "Add", {{Operation::Kind::kAddClass, {}, {}, name}}, {}};
  for (const char digit : digits) {
    change.photos.push_back(photo(digit));
    change.operations.push_back({Operation::Kind::kPut, photo(digit).id, {}, name});
  }
  return change;
}

TEST(ProjectState, AppliesAChangeAsAWholeOrNotAtAll) {
  ProjectState state;
  state.apply(adding("cat", "12"));
  EXPECT_EQ(state.revision(), 1U);
  EXPECT_EQ(state.photo_count(), 2U);
  const std::string before = state.to_line();
  Change wrong = adding("dog", "3");
  wrong.operations.push_back({Operation::Kind::kPut, photo('1').id, "dog", "cat"});  // it is not in dog
  expect_error(ErrorKind::kUsage, "no longer where it was", [&] { state.apply(wrong); });
  EXPECT_EQ(state.to_line(), before);
}

TEST(ProjectState, UndoesAndRedoes) {
  ProjectState state;
  state.apply(adding("cat", "12"));
  const std::string checksum = state.content_checksum();
  state.apply({Change::Kind::kDo, "Rename", {{Operation::Kind::kRenameClass, {}, "cat", "lynx"}}, {}});
  EXPECT_EQ(state.photo(photo('1').id).class_name, "lynx");
  EXPECT_NE(state.content_checksum(), checksum);
  state.apply(state.next_undo());
  EXPECT_EQ(state.content_checksum(), checksum);
  state.apply(state.next_redo());
  EXPECT_TRUE(state.classes().contains("lynx"));
  expect_error(ErrorKind::kUsage, "nothing to redo", [&] { state.next_redo(); });
}

TEST(ProjectState, ChecksumsNameThePhotosWhateverTheirOrder) {
  ProjectState one;
  one.apply(adding("cat", "12"));
  ProjectState other;
  other.apply(adding("cat", "21"));
  EXPECT_EQ(one.content_checksum(), other.content_checksum());
  // A class without photos, and photos that are not used, do not count.
  other.apply(adding("dog", ""));
  EXPECT_EQ(one.content_checksum(), other.content_checksum());
  other.apply(adding("owl", "3"));
  EXPECT_NE(one.content_checksum(), other.content_checksum());
  EXPECT_EQ(one.content_checksum(), other.content_checksum([](const std::string& id) { return id[0] != '3'; }));
}

TEST(ProjectState, ForgetsPhotosThatNoUndoBringsBack) {
  ProjectState state;
  state.apply(adding("cat", "1"));
  state.apply({Change::Kind::kDo, "Remove", {{Operation::Kind::kPut, photo('1').id, "cat", {}}}, {}});
  EXPECT_TRUE(state.forgotten().empty());
  state.forget_undo();
  EXPECT_EQ(state.forgotten(), std::vector<std::string>{photo('1').id});
  state.forget(state.forgotten());
  EXPECT_TRUE(state.photos().empty());
}

TEST(ProjectState, PhotosWaitInTheInboxAndAreSorted) {
  ProjectState state;
  Change change;
  for (const char digit : {'1', '2', '3'}) {
    change.photos.push_back(photo(digit));
    change.operations.push_back({Operation::Kind::kPut, photo(digit).id, {}, kInbox});
  }
  state.apply(change);
  state.apply(adding("cat", ""));
  const std::string nothing_labelled = state.content_checksum();
  const std::string all = state.inbox_checksum();
  EXPECT_EQ(state.inbox().size(), 3U);
  EXPECT_EQ(state.photo_count(), 0U);
  EXPECT_EQ(state.content_checksum(), ProjectState().content_checksum());

  state.apply({Change::Kind::kDo, "Label", {{Operation::Kind::kPut, photo('1').id, kInbox, "cat"}}, {}});
  state.apply({Change::Kind::kDo, "Set aside", {{Operation::Kind::kPut, photo('2').id, kInbox, kUnknown}}, {}});
  EXPECT_EQ(state.inbox().size(), 1U);
  EXPECT_EQ(state.unknown(), std::set<std::string>{photo('2').id});
  EXPECT_EQ(state.photo_count(), 1U);
  EXPECT_EQ(state.sorted_count(), 2U);
  EXPECT_NE(state.content_checksum(), nothing_labelled);
  EXPECT_NE(state.inbox_checksum(), all);
  EXPECT_EQ(state.inbox_checksum([](const std::string&) { return false; }), ProjectState().inbox_checksum());

  ProjectState read;
  read.replay(state.to_line());
  EXPECT_EQ(read.to_line(), state.to_line());
  EXPECT_EQ(read.inbox(), state.inbox());
  EXPECT_EQ(read.unknown(), state.unknown());
  EXPECT_EQ(read.sorted_count(), 2U);

  state.apply(state.next_undo());
  state.apply(state.next_undo());
  EXPECT_EQ(state.inbox_checksum(), all);
  EXPECT_EQ(state.sorted_count(), 0U);
  expect_error(ErrorKind::kUsage, "a name cannot begin with a dot", [] { check_class_name(kInbox); });
}

TEST(ProjectState, PlacesHaveTitles) {
  EXPECT_TRUE(is_place(kInbox));
  EXPECT_FALSE(is_place("inbox"));
  EXPECT_EQ(title_of_place(kInbox), "the Inbox");
  EXPECT_EQ(title_of_place(kUnknown), "Unknown");
  EXPECT_EQ(title_of_place("cat"), "cat");
}

}  // namespace
}  // namespace annulus::studio
