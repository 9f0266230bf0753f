// Help, version and shell completion.
#include <regex>

#include "tests/fixtures/program.h"

namespace annulus {
namespace {

// The subcommands that the program's own help lists.
std::vector<std::string> subcommands(const Scratch& scratch) {
  const Outcome help = run_annulus(scratch, {"--help"});
  EXPECT_EQ(help.exit_code, 0);
  std::vector<std::string> found;
  std::istringstream lines(help.out.substr(help.out.find("Subcommands:\n")));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ")) {
    if (line[2] != ' ') found.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return found;
}

// What bash offers for a line of words, the last of which is being typed.
std::string complete(const Scratch& scratch, const std::string& words, int count) {
  const std::string script = "source <(" ANNULUS_PROGRAM " completion bash); COMP_WORDS=(" + words +
                             "); COMP_CWORD=" + std::to_string(count - 1) +
                             "; _annulus; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const Outcome outcome = Child(scratch, {"bash", "-c", script}).wait();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

TEST(Help, EverySubcommandHasAnExampleThatNamesIt) {
  const Scratch scratch;
  const auto all = subcommands(scratch);
  ASSERT_GE(all.size(), 5U);
  for (const std::string& subcommand : all) {
    const Outcome help = run_annulus(scratch, {subcommand, "--help"});
    EXPECT_EQ(help.exit_code, 0) << subcommand;
    EXPECT_EQ(help.err, "") << subcommand;
    const auto example = help.out.find("Example:\n");
    ASSERT_NE(example, std::string::npos) << subcommand;
    EXPECT_NE(help.out.find("annulus " + subcommand, example), std::string::npos) << subcommand;
  }
}

// Words that this program has given up for those of the field.
TEST(Help, SpeaksTheWordsOfTheField) {
  const Scratch scratch;
  std::vector<std::string> pages{run_annulus(scratch, {"--help"}).out};
  for (const std::string& subcommand : subcommands(scratch)) {
    pages.push_back(run_annulus(scratch, {subcommand, "--help"}).out);
  }
  ASSERT_GE(pages.size(), 15U);
  const std::regex old(R"(\b(conditioning|refused?|share of|SHARE|verbs?|design houses?|rows a class|)"
                       R"(a line each|knobs?|replicas?|teach|taught|known things?|answers?|answered)\b)");
  for (const std::string& page : pages) {
    std::smatch found;
    EXPECT_FALSE(std::regex_search(page, found, old)) << found.str() << " in\n" << page;
  }
}

TEST(Help, VersionIsOneLine) {
  const Scratch scratch;
  const Outcome version = run_annulus(scratch, {"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(version.out.starts_with("annulus ")) << version.out;
  EXPECT_EQ(std::count(version.out.begin(), version.out.end(), '\n'), 1);
}

TEST(Completion, BashOffersSubcommandsOptionsAndChoices) {
  const Scratch scratch;
  EXPECT_EQ(complete(scratch, "annulus ev", 2), "evaluate\n");
  EXPECT_EQ(complete(scratch, "annulus fit data.npz --search-r", 4), "--search-range\n");
  EXPECT_EQ(complete(scratch, "annulus fit --head c", 4), "cosine\n");
  EXPECT_EQ(complete(scratch, "annulus predict --format ''", 4), "text\njsonl\ncsv\n");
  EXPECT_EQ(complete(scratch, "annulus completion z", 3), "zsh\n");
  EXPECT_EQ(complete(scratch, "annulus fit feat", 3), "\n");  // files are left to bash
  EXPECT_EQ(complete(scratch, "annulus fit -o mod", 4), "\n");
}

TEST(Completion, OffersEverySubcommandInEveryShell) {
  const Scratch scratch;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run_annulus(scratch, {"completion", shell});
    ASSERT_EQ(outcome.exit_code, 0) << shell;
    for (const std::string& subcommand : subcommands(scratch))
      EXPECT_NE(outcome.out.find(subcommand), std::string::npos) << shell;
    EXPECT_NE(outcome.out.find("noise-shape"), std::string::npos) << shell;
  }
  expect_complaint(run_annulus(scratch, {"completion", "tcsh"}), 2, "tcsh");
}

}  // namespace
}  // namespace annulus
