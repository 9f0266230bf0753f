// Projects: changes, undo, hand-made changes, hostile names, and SIGKILL at any moment.
#include "annulus/store/project.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "annulus/base/random.h"
#include "tests/store/expect_error.h"
#include "tests/store/scratch_folder.h"

namespace annulus {
namespace {

// Files that look like PNG; the project does not look further.
std::string picture(int number) { return "\x89PNG\r\n\x1A\n" + std::to_string(number); }

std::vector<AddedPhoto> add(Project& project, const std::string& class_name, const std::vector<int>& numbers) {
  std::vector<std::string> files;
  for (const int number : numbers) files.push_back(picture(number));
  std::vector<NewPhoto> photos;
  for (const std::string& file : files) photos.push_back({std::as_bytes(std::span(file)), "a.png"});
  return project.add_photos(class_name, photos);
}

// Every photo is where the state says, and nothing else is there.
void expect_files_as_said(const Project& project) {
  std::size_t files = 0;
  for (const auto& [name, entry] : project.state().classes()) {
    EXPECT_TRUE(std::filesystem::is_directory(project.photos_folder() / name)) << name;
    for (const std::string& id : entry.photos) {
      EXPECT_TRUE(content_of(project.path_of(project.state().photo(id))).starts_with("\x89PNG")) << id;
    }
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(project.photos_folder())) {
    if (entry.is_regular_file()) {
      ++files;
    } else {
      EXPECT_TRUE(project.state().classes().contains(entry.path().filename())) << entry.path();
    }
  }
  EXPECT_EQ(files, project.state().photo_count());
}

struct Opened {
  explicit Opened(const ScratchFolder& folder) {
    if (!Project::exists(folder / "p")) Project::create(folder / "p", "mobilenet-0.25");
    project.emplace(folder / "p");
  }
  Project* operator->() { return &*project; }
  Project& operator*() { return *project; }
  std::optional<Project> project;
};

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
  const std::string text = "GIF89a";
  const NewPhoto other{std::as_bytes(std::span(text)), "../../etc/passwd"};
  EXPECT_EQ(project->add_photos("dog", {&other, 1})[0].outcome, AddedPhoto::Outcome::kRefused);
  expect_files_as_said(*project);
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

TEST(Project, RefusesNamesThatAreNoFoldersOwn) {
  const ScratchFolder folder;
  Opened project(folder);
  for (const std::string name : {"", "..", "a/b", ".x", " a", "a ", "a\nb", "\xFF", "a\\b"}) {
    expect_error(ErrorKind::kUsage, "expected a", [&] { project->add_class(name); });
  }
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

TEST(Project, TakesInWhatWasDoneByHand) {
  const ScratchFolder folder;
  std::string moved;
  std::string deleted;
  {
    Opened project(folder);
    const auto added = add(*project, "cat", {1, 2, 3});
    moved = added[0].id + ".png";
    deleted = added[1].id + ".png";
  }
  const auto photos = folder / "p/photos";
  std::filesystem::create_directories(photos / "dog");
  std::filesystem::rename(photos / "cat" / moved, photos / "dog" / moved);
  std::filesystem::remove(photos / "cat" / deleted);
  folder.write("p/photos/dog/rex.png", picture(7));
  folder.write("p/photos/dog/notes.txt", "no photo");
  folder.write("p/photos/dog/copy.png", picture(3));
  Opened project(folder);
  EXPECT_EQ(project->state().class_named("cat").photos.size(), 1U);
  EXPECT_EQ(project->state().class_named("dog").photos.size(), 2U);
  const Photo& rex = project->state().photo(project->state().class_named("dog").photos.front());
  EXPECT_EQ(rex.name, "rex.png");
  EXPECT_EQ(content_of(project->path_of(rex)), picture(7));
}

TEST(Project, OpensAfterARenamedClassWasMadeAgainByHand) {
  for (const std::vector<int>& photos : {std::vector<int>{1, 2}, std::vector<int>{}}) {
    const ScratchFolder folder;
    {
      Opened project(folder);
      project->add_class("bird");
      add(*project, "bird", photos);
      project->rename_class("bird", "robin");
    }
    std::filesystem::create_directories(folder / "p/photos/bird");
    folder.write("p/photos/bird/wren.png", picture(7));
    Opened project(folder);
    EXPECT_EQ(project->state().class_named("robin").photos.size(), photos.size());
    EXPECT_EQ(project->state().class_named("bird").photos.size(), 1U);
    expect_files_as_said(*project);
  }
}

TEST(Project, OpensWhenTheLastChangeCannotBeDoneAgain) {
  const ScratchFolder folder;
  {
    Opened project(folder);
    add(*project, "bird", {1, 2});
    project->rename_class("bird", "robin");
  }
  std::filesystem::rename(folder / "p/photos/robin", folder / "p/photos/bird");
  folder.write("p/photos/robin", "no folder");
  Opened project(folder);
  EXPECT_EQ(project->state().class_named("bird").photos.size(), 2U);
}

TEST(Project, RenamesIntoAFolderThatHoldsSomethingElse) {
  const ScratchFolder folder;
  Opened project(folder);
  const auto added = add(*project, "bird", {1, 2, 3});
  std::filesystem::create_directories(folder / "p/photos/robin");
  folder.write("p/photos/robin/notes.txt", "no photo");
  project->rename_class("bird", "robin");
  for (const AddedPhoto& photo : added) {
    EXPECT_TRUE(std::filesystem::exists(project->path_of(project->state().photo(photo.id))));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "p/photos/bird"));
  EXPECT_EQ(content_of(folder / "p/photos/robin/notes.txt"), "no photo");
  // A process that ended half-way: the first photo had not been moved yet.
  std::filesystem::create_directories(folder / "p/photos/bird");
  const std::string first = added[0].id + ".png";
  std::filesystem::rename(folder / "p/photos/robin" / first, folder / "p/photos/bird" / first);
  project.project.reset();
  Opened again(folder);
  EXPECT_EQ(again->state().class_named("robin").photos.size(), 3U);
  EXPECT_EQ(again->state().revision(), 2U);
}

TEST(Project, BeginsWithPhotosThatAreThere) {
  const ScratchFolder folder;
  Project::create(folder / "p", "b");
  std::filesystem::create_directories(folder / "p/photos/cat");
  folder.write("p/photos/cat/tom.png", picture(1));
  { Opened project(folder); }
  Opened project(folder);
  EXPECT_EQ(project->state().photo_count(), 1U);
  EXPECT_FALSE(project->state().can_undo());
  expect_files_as_said(*project);
}

TEST(Project, RefusesAForgedJournal) {
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

}  // namespace
}  // namespace annulus
