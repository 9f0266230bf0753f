// Lines of a project's journal: what is written is read back, and nothing else is taken.
#include <gtest/gtest.h>

#include "annulus/base/error.h"
#include "studio_engine/project/project_state.h"

namespace annulus::studio {
namespace {

const std::string kSha(64, 'a');

TEST(ProjectLines, ChangesAndStatesComeBack) {
  const Change change{
      Change::Kind::kDo,
      "Add \"1\" photo",
      {{Operation::Kind::kAddClass, {}, {}, "cat"}, {Operation::Kind::kPut, kSha.substr(0, 16), {}, "cat"}},
      {{kSha.substr(0, 16), kSha, "webp", "a.webp", {}}}};
  ProjectState state;
  state.replay(ProjectState::to_line(change));
  EXPECT_EQ(state.photo(kSha.substr(0, 16)).extension, "webp");
  EXPECT_EQ(ProjectState::change_of(ProjectState::to_line(change)).title, change.title);
  state.replay(ProjectState::to_line(state.next_undo()));
  state.replay(ProjectState::to_line(state.next_redo()));
  ProjectState again;
  again.replay(state.to_line());
  EXPECT_EQ(again.to_line(), state.to_line());
  EXPECT_TRUE(again.can_undo());
  EXPECT_TRUE(ProjectState::change_of(state.to_line()).operations.empty());
}

TEST(ProjectLines, TakesNothingElse) {
  const std::string photo = "[\"" + kSha + "\",\"png\",\"a\"]";
  for (const std::string& line :
       {std::string(), std::string("{}"), std::string("[]"), std::string("{\"kind\":\"do\"}"),
        std::string(R"({"kind":"do","title":"","operations":[["fly","cat"]]})"),
        std::string(R"({"kind":"do","title":"","operations":[["add"]]})"),
        std::string(R"({"kind":"do","title":"","operations":[["add","../x"]]})"),
        std::string(R"({"kind":"state","revision":1,"classes":[["a/b",1,[]]],"photos":[],"undo":[],"redo":[]})"),
        R"({"kind":"do","title":"","operations":[],"photos":[["../../x","png","a"]]})" + std::string(),
        "{\"kind\":\"do\",\"title\":\"\",\"operations\":[],\"photos\":[[\"" + kSha + "\",\"exe\",\"a\"]]}"}) {
    ProjectState state;
    EXPECT_THROW(state.replay(line), Error) << line;
    EXPECT_EQ(state.revision(), 0U);
  }
  ProjectState state;
  state.replay(R"({"kind":"do","title":"","operations":[["add","cat"]],"photos":[)" + photo + "]}");
  EXPECT_EQ(state.revision(), 1U);
}

}  // namespace
}  // namespace annulus::studio
