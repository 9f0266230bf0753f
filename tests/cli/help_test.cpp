// Help, version and shell completion.
#include "tests/cli/program.h"

namespace annulus {
namespace {

// The verbs that the program's own help lists.
std::vector<std::string> verbs(const Scratch& scratch) {
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

TEST(Help, EveryVerbHasAnExampleThatNamesIt) {
  const Scratch scratch;
  const auto all = verbs(scratch);
  ASSERT_GE(all.size(), 5U);
  for (const std::string& verb : all) {
    const Outcome help = run_annulus(scratch, {verb, "--help"});
    EXPECT_EQ(help.exit_code, 0) << verb;
    EXPECT_EQ(help.err, "") << verb;
    const auto example = help.out.find("Example:\n");
    ASSERT_NE(example, std::string::npos) << verb;
    EXPECT_NE(help.out.find("annulus " + verb, example), std::string::npos) << verb;
  }
}

TEST(Help, VersionIsOneLine) {
  const Scratch scratch;
  const Outcome version = run_annulus(scratch, {"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(version.out.starts_with("annulus ")) << version.out;
  EXPECT_EQ(std::count(version.out.begin(), version.out.end(), '\n'), 1);
}

TEST(Completion, BashOffersVerbsOptionsAndChoices) {
  const Scratch scratch;
  EXPECT_EQ(complete(scratch, "annulus ev", 2), "evaluate\n");
  EXPECT_EQ(complete(scratch, "annulus fit data.npz --search-r", 4), "--search-range\n");
  EXPECT_EQ(complete(scratch, "annulus fit --head c", 4), "cosine\n");
  EXPECT_EQ(complete(scratch, "annulus predict --format ''", 4), "text\njsonl\ncsv\n");
  EXPECT_EQ(complete(scratch, "annulus completion z", 3), "zsh\n");
  EXPECT_EQ(complete(scratch, "annulus fit feat", 3), "\n");  // files are left to bash
  EXPECT_EQ(complete(scratch, "annulus fit -o mod", 4), "\n");
}

TEST(Completion, OffersEveryVerbInEveryShell) {
  const Scratch scratch;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome outcome = run_annulus(scratch, {"completion", shell});
    ASSERT_EQ(outcome.exit_code, 0) << shell;
    for (const std::string& verb : verbs(scratch)) EXPECT_NE(outcome.out.find(verb), std::string::npos) << shell;
    EXPECT_NE(outcome.out.find("noise-shape"), std::string::npos) << shell;
  }
  expect_complaint(run_annulus(scratch, {"completion", "tcsh"}), 2, "tcsh");
}

}  // namespace
}  // namespace annulus
