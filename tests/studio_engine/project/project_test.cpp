// Projects: changes, undo, hostile names, and SIGKILL at any moment.
#include "studio_engine/project/project.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "annulus/base/random.h"
#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/project_photos.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus::studio {
namespace {

TEST(Project, KeepsEveryChangeAndUndoesIt) {
  const ScratchFolder folder;
  std::string before;
  {
    Opened project(folder);
    const auto added = add(*project, "cat", {1, 2, 3});
    EXPECT_EQ(added[2].outcome, AddedPhoto::Outcome::kAdded);
    add(*project, "dog", {4});
    project->rename_class("dog", "wolf");
    const std::string moved[] = {added[0].id};
    project->move_photos(moved, "wolf");
    before = project->state().to_line();
    project->remove_class("cat");
    EXPECT_EQ(project->state().photo_count(), 2U);
    expect_files_as_said(*project);
  }
  Opened project(folder);
  EXPECT_EQ(project->backbone(), "mobilenet-0.25");
  EXPECT_EQ(project->undo(), "Remove class cat");
  EXPECT_EQ(project->state().class_named("cat").photos.size(), 2U);
  expect_files_as_said(*project);
  for (int i = 0; i < 4; ++i) project->undo();
  EXPECT_EQ(project->state().classes().size(), 0U);
  EXPECT_FALSE(project->state().can_undo());
  expect_error(ErrorKind::kUsage, "nothing to undo", [&] { project->undo(); });
  expect_files_as_said(*project);
  for (int i = 0; i < 4; ++i) project->redo();
  EXPECT_EQ(project->state().class_named("wolf").photos.size(), 2U);
  add(*project, "owl", {9});
  EXPECT_FALSE(project->state().can_redo());
  expect_files_as_said(*project);
}

TEST(Project, KnowsAPhotoThatIsThereAlready) {
  const ScratchFolder folder;
  Opened project(folder);
  add(*project, "cat", {1});
  const auto again = add(*project, "dog", {1, 2, 2});
  EXPECT_EQ(again[0].outcome, AddedPhoto::Outcome::kKnown);
  EXPECT_EQ(again[0].reason, "cat");
  EXPECT_EQ(again[1].outcome, AddedPhoto::Outcome::kAdded);
  EXPECT_EQ(again[2].outcome, AddedPhoto::Outcome::kKnown);
  EXPECT_EQ(project->state().next_undo().title, "Add 1 photo to dog");
  const std::string text = "%PDF-1.7";
  const NewPhoto other{std::as_bytes(std::span(text)), "../../etc/passwd"};
  EXPECT_EQ(project->add_photos("dog", {&other, 1})[0].outcome, AddedPhoto::Outcome::kRejected);
  expect_files_as_said(*project);
}

TEST(Project, LeavesNoEmptyClassBehind) {
  const ScratchFolder folder;
  Opened project(folder);
  const auto names = [&] {
    std::vector<std::string> found;
    for (const auto& [name, entry] : project->state().classes()) found.push_back(name);
    return found;
  };
  using Names = std::vector<std::string>;
  const auto cats = add(*project, "cat", {1, 2});
  const auto dogs = add(*project, "dog", {3});
  add(*project, "known", {1});  // is in cat already
  EXPECT_EQ(names(), (Names{"cat", "dog"}));
  const std::string dog[] = {dogs[0].id};
  project->move_photos(dog, "cat");
  EXPECT_EQ(names(), (Names{"cat"}));
  EXPECT_FALSE(std::filesystem::exists(folder / "p/photos/dog"));
  EXPECT_EQ(project->undo(), "Move 1 photo to cat");
  EXPECT_EQ(names(), (Names{"cat", "dog"}));
  expect_files_as_said(*project);
  const std::string one[] = {cats[0].id};
  project->remove_photos(one);
  EXPECT_EQ(names(), (Names{"cat", "dog"}));
  const std::string other[] = {cats[1].id};
  project->remove_photos(other);
  EXPECT_EQ(names(), (Names{"dog"}));
  project->move_photos(dog, "dog");  // moves nothing
  EXPECT_EQ(names(), (Names{"dog"}));
  project->add_class("new");  // to be filled
  EXPECT_EQ(names(), (Names{"dog", "new"}));
  project->undo();
  project->undo();
  EXPECT_EQ(names(), (Names{"cat", "dog"}));
  expect_files_as_said(*project);
}

TEST(Project, RemembersWhatIsRight) {
  const ScratchFolder folder;
  const ConfirmedFinding finding{"outlier", "0123456789abcdef", "cat", ""};
  {
    Opened project(folder);
    project->confirm(finding, true);
    EXPECT_EQ(project->state().revision(), 0U);
  }
  Opened project(folder);
  EXPECT_TRUE(project->confirmed().contains(finding));
  project->confirm(finding, false);
  EXPECT_FALSE(project->confirmed().contains(finding));
}

TEST(Project, NamesTheContentOfSomePhotos) {
  const ScratchFolder folder;
  Opened project(folder);
  const std::string nothing = project->state().content_checksum();
  add(*project, "cat", {1});
  const std::string one = project->state().content_checksum();
  const auto added = add(*project, "cat", {2});
  const auto dog = add(*project, "dog", {3});
  const auto but = [&](const std::vector<AddedPhoto>& left_out) {
    return [left_out](const std::string& id) {
      return std::none_of(left_out.begin(), left_out.end(), [&](const AddedPhoto& photo) { return photo.id == id; });
    };
  };
  EXPECT_EQ(project->state().content_checksum(but({})), project->state().content_checksum());
  EXPECT_EQ(project->state().content_checksum(but({added[0], dog[0]})), one);
  EXPECT_NE(project->state().content_checksum(but(dog)), one);
  EXPECT_EQ(project->state().content_checksum([](const std::string&) { return false; }), nothing);
}

TEST(Project, RejectsNamesThatAreNoFoldersOwn) {
  const ScratchFolder folder;
  Opened project(folder);
  for (const std::string name : {"", "..", "a/b", ".x", " a", "a ", "a\nb", "\xFF", "a\\b"}) {
    expect_error(ErrorKind::kUsage, "name", [&] { project->add_class(name); });
  }
  // What to do is part of the sentence.
  expect_error(ErrorKind::kUsage, "cannot contain \"/\": write \"a/b\" without it", [&] { project->add_class("a/b"); });
  expect_error(ErrorKind::kUsage, "cannot begin with a dot: write", [&] { project->add_class(".x"); });
  expect_error(ErrorKind::kUsage, "spaces around it", [&] { project->add_class("a "); });
  expect_error(ErrorKind::kUsage, "found 101: shorten it", [&] { project->add_class(std::string(101, 'a')); });
  project->add_class("\xC3\xA9l\xC3\xA9phant (young)");
  expect_error(ErrorKind::kUsage, "already", [&] { project->add_class("\xC3\xA9l\xC3\xA9phant (young)"); });
  EXPECT_EQ(project->state().revision(), 1U);
}

TEST(Project, IsOpenOnce) {
  const ScratchFolder folder;
  Opened project(folder);
  expect_error(ErrorKind::kUsage, "open in another process", [&] { Project second(folder / "p"); });
  expect_error(ErrorKind::kUsage, "no project.json", [&] { Project none(folder / "q"); });
  folder.write("file", "x");
  expect_error(ErrorKind::kUsage, "new or empty", [&] { Project::create(folder.path(), "b"); });
}

TEST(Project, IsMadeWhereOneWasKilledWhileItWasMade) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "p");
  folder.write("p/.project.json.123.0.tmp", "{\"annulus_pro");
  { const Opened project(folder); }
  EXPECT_FALSE(std::filesystem::exists(folder / "p/.project.json.123.0.tmp"));
  // Anything else is somebody's.
  std::filesystem::create_directories(folder / "q");
  folder.write("q/.project.json.123.0.tmp", "");
  folder.write("q/.notes.tmp", "mine");
  expect_error(ErrorKind::kUsage, "new or empty", [&] { Project::create(folder / "q", "b"); });
}

TEST(Project, ClearsAwayWhatAKilledProcessLeft) {
  const ScratchFolder folder;
  { const Opened project(folder); }
  std::filesystem::create_directories(folder / "p/exports");
  const std::vector<std::string> left = {
      "p/.project.json.1.0.tmp",           "p/.journal.jsonl.1.3.tmp",
      "p/.model.safetensors.1.2.tmp",      "p/trash/.0123456789abcdef.png.1.7.tmp",
      "p/exports/.birds.onnx.31337.0.tmp",
  };
  for (const std::string& name : left) folder.write(name, "half of a");
  folder.write("p/.mine.tmp", "a person's");
  {
    const Opened project(folder);
    for (const std::string& name : left) EXPECT_FALSE(std::filesystem::exists(folder / name)) << name;
    EXPECT_EQ(content_of(folder / "p/.mine.tmp"), "a person's");
    // Who does not get the lock clears nothing away: it may be in use.
    folder.write(left.front(), "being written");
    expect_error(ErrorKind::kUsage, "open in another process", [&] { const Opened second(folder); });
    EXPECT_TRUE(std::filesystem::exists(folder / left.front()));
  }
}

TEST(Project, RejectsAForgedJournal) {
  const ScratchFolder folder;
  { Opened project(folder); }
  for (const std::string line :
       {R"({"kind":"do","title":"","operations":[["add","../x"]]})",
        R"({"kind":"do","title":"","operations":[["put","x","",""]]})",
        R"({"kind":"do","title":"","operations":[],"photos":[["../../x","png","n"]]})", "[]", "{"}) {
    std::filesystem::remove(folder / "p/journal.jsonl");
    Journal(folder / "p/journal.jsonl", [](std::string_view) {}).append(line);
    expect_error(ErrorKind::kFormat, "journal.jsonl", [&] { Project project(folder / "p"); });
  }
}

TEST(Project, StartsALongJournalAnew) {
  const ScratchFolder folder;
  std::string before;
  {
    Opened project(folder);
    add(*project, "cat", {1, 2});
    for (int i = 0; i < 8; ++i) {
      project->rename_class(i % 2 == 0 ? "cat" : "dog", i % 2 == 0 ? "dog" : "cat");
    }
  }
  {
    // As if much had happened: the length alone decides.
    Journal journal(folder / "p/journal.jsonl", [](std::string_view) {});
    journal.append(R"({"kind":"do","title":")" + std::string(5 << 20, 'x') + R"(","operations":[]})");
  }
  {
    Opened project(folder);
    before = project->state().to_line();
  }
  Opened project(folder);
  EXPECT_EQ(project->state().to_line(), before);
  project->undo();
  project->undo();
  EXPECT_EQ(project->state().classes().begin()->first, "dog");
  expect_files_as_said(*project);
}

// Of files, in bytes, as long as it lives: a disk that is full.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  sighandler_t handler_;
  rlimit before_{};
};

TEST(Project, GoesOnWhenTheDiskTakesChangesAgain) {
  const ScratchFolder folder;
  Opened project(folder);
  add(*project, "cat", {1});
  const std::string before = project->state().to_line();
  {
    const SizeLimit full(10);
    expect_error(ErrorKind::kIo, "cannot be written", [&] { project->add_class("dog"); });
    EXPECT_EQ(project->state().to_line(), before);
    // Nor can the journal be read.
    std::filesystem::rename(folder / "p/journal.jsonl", folder / "p/away");
    std::filesystem::create_directory(folder / "p/journal.jsonl");
    for (int i = 0; i < 2; ++i) EXPECT_ANY_THROW(project->add_class("dog"));
    std::filesystem::remove(folder / "p/journal.jsonl");
    std::filesystem::rename(folder / "p/away", folder / "p/journal.jsonl");
  }
  project->add_class("owl");
  EXPECT_EQ(project->state().classes().size(), 2U);
  EXPECT_TRUE(project->state().classes().contains("owl"));
  expect_files_as_said(*project);
}

std::uint64_t mix(std::uint64_t index, std::uint32_t what) {
  return RandomStream{8, RandomUse::kSynthetic, what}.below(index, 1U << 30);
}

// Step `index` of a fixed story: exactly one change, chosen by index and state alone.
void take_step(Project& project, std::uint32_t index) {
  const ProjectState& state = project.state();
  const auto draw = [&](std::uint32_t what, std::size_t count) {
    return static_cast<std::size_t>(mix(index, what) % count);
  };
  std::vector<std::string> names;
  std::vector<std::string> ids;
  for (const auto& [name, entry] : state.classes()) {
    names.push_back(name);
    ids.insert(ids.end(), entry.photos.begin(), entry.photos.end());
  }
  const std::string fresh = "class " + std::to_string(index);
  const std::size_t kind = draw(0, 8);
  if (names.empty() || ids.size() < 4 || kind < 2) {
    add(project, names.empty() || kind == 0 ? fresh : names[draw(1, names.size())],
        {static_cast<int>(3 * index), static_cast<int>(3 * index + 1)});
  } else if (kind == 2) {
    project.rename_class(names[draw(1, names.size())], fresh);
  } else if (kind == 3) {
    project.remove_class(names[draw(1, names.size())]);
  } else if (kind == 4) {
    project.remove_photos({&ids[draw(1, ids.size())], 1});
  } else if (kind == 5 && state.can_redo()) {
    project.redo();
  } else if (kind <= 6 && state.can_undo()) {
    project.undo();
  } else {
    project.move_photos({&ids[draw(1, ids.size())], 1}, fresh);
  }
}

TEST(Project, SurvivesSigkillAtAnyMoment) {
  constexpr std::uint32_t kSteps = 160;
  constexpr int kRounds = 10;
  const ScratchFolder folder;
  std::vector<std::string> told;  // state after each step of the story
  {
    Project::create(folder / "undisturbed", "b");
    Project project(folder / "undisturbed");
    told.push_back(project.state().to_line());
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      take_step(project, i);
      ASSERT_EQ(project.state().revision(), i + 1);
      told.push_back(project.state().to_line());
    }
  }
  Project::create(folder / "p", "b");
  for (int round = 0; round < kRounds; ++round) {
    int acknowledged[2];
    ASSERT_EQ(::pipe(acknowledged), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Project project(folder / "p");
      while (project.state().revision() < kSteps) {
        take_step(project, static_cast<std::uint32_t>(project.state().revision()));
        const std::uint64_t revision = project.state().revision();
        if (::write(acknowledged[1], &revision, sizeof revision) != sizeof revision) ::_exit(1);
      }
      ::_exit(0);
    }
    ::close(acknowledged[1]);
    ::usleep(static_cast<useconds_t>(2000 + mix(77, static_cast<std::uint32_t>(round)) % 90000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    std::uint64_t last = 0;
    std::uint64_t revision = 0;
    while (::read(acknowledged[0], &revision, sizeof revision) == sizeof revision) last = revision;
    ::close(acknowledged[0]);
    const Project project(folder / "p");
    const std::uint64_t now = project.state().revision();
    if (last != 0) {
      EXPECT_TRUE(now == last || now == last + 1) << last << " " << now;
    }
    ASSERT_LT(now, told.size());
    EXPECT_EQ(project.state().to_line(), told[now]);
    expect_files_as_said(project);
  }
}

TEST(Project, SortsPhotosOfTheInbox) {
  const ScratchFolder folder;
  Opened project(folder);
  const auto added = add(*project, kInbox, {1, 2, 3});
  EXPECT_EQ(project->state().next_undo().title, "Add 3 photos to the Inbox");
  EXPECT_TRUE(std::filesystem::exists(folder / "p/inbox" / (added[0].id + ".png")));
  EXPECT_EQ(add(*project, "cat", {1})[0].reason, "the Inbox");
  const std::string first[] = {added[0].id};
  const std::string second[] = {added[1].id};
  project->move_photos(first, "cat");
  project->move_photos(second, kUnknown);
  EXPECT_EQ(project->state().next_undo().title, "Move 1 photo to Unknown");
  EXPECT_FALSE(project->state().classes().contains(kUnknown));
  EXPECT_TRUE(std::filesystem::exists(folder / "p/photos/cat" / (added[0].id + ".png")));
  EXPECT_TRUE(std::filesystem::exists(folder / "p/unknown" / (added[1].id + ".png")));
  EXPECT_TRUE(std::filesystem::exists(folder / "p/inbox" / (added[2].id + ".png")));
  expect_files_as_said(*project);
  project.project.reset();
  Opened again(folder);
  EXPECT_EQ(again->state().inbox(), std::set<std::string>{added[2].id});
  again->undo();
  again->undo();
  EXPECT_EQ(again->state().inbox().size(), 3U);
  EXPECT_TRUE(std::filesystem::exists(folder / "p/inbox" / (added[1].id + ".png")));
  EXPECT_FALSE(again->state().classes().contains("cat"));
}

}  // namespace
}  // namespace annulus::studio
