// The parser's tree as values, and what the program prints of it.
#include "cli/option_table.h"

#include "tests/fixtures/program.h"

namespace annulus::cli {
namespace {

TEST(OptionTable, ReadsNamesTypesChoicesAndDefaults) {
  CLI::App app("a program");
  std::string data, kind = "plain";
  std::vector<std::string> inputs;
  bool fast = false;
  CLI::App& command = *app.add_subcommand("cook", "Cook a meal");
  command.add_option("DATA", data, "What to cook")->required()->type_name("");
  command.add_option("MORE", inputs, "What else")->type_name("");
  command.add_option("-k,--kind", kind, "How to cook it")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>{"plain", "spicy"}))
      ->capture_default_str()
      ->group("Taste");
  command.add_flag("--fast", fast, "Hurry");
  command.footer("Example:\n  cook rice");
  app.add_subcommand("secret", "Not shown")->group("");

  const std::vector<SubcommandEntry> subcommands = subcommand_entries(app);
  ASSERT_EQ(subcommands.size(), 1U);
  EXPECT_EQ(subcommands[0].name, "cook");
  EXPECT_EQ(subcommands[0].description, "Cook a meal");
  EXPECT_EQ(subcommands[0].example, "  cook rice");
  ASSERT_EQ(subcommands[0].arguments.size(), 2U);
  EXPECT_EQ(subcommands[0].arguments[0].names, std::vector<std::string>{"DATA"});
  EXPECT_TRUE(subcommands[0].arguments[0].required);
  EXPECT_FALSE(subcommands[0].arguments[0].takes_several);
  EXPECT_FALSE(subcommands[0].arguments[1].required);
  EXPECT_TRUE(subcommands[0].arguments[1].takes_several);
  ASSERT_EQ(subcommands[0].options.size(), 3U);  // help comes first
  const OptionEntry& option = subcommands[0].options[1];
  EXPECT_EQ(option.names, (std::vector<std::string>{"-k", "--kind"}));
  EXPECT_EQ(option.type, "NAME");
  EXPECT_EQ(option.choices, (std::vector<std::string>{"plain", "spicy"}));
  EXPECT_EQ(option.default_value, "plain");
  EXPECT_EQ(option.description, "How to cook it");
  EXPECT_EQ(option.group, "Taste");
  EXPECT_TRUE(option.takes_value);
  EXPECT_FALSE(subcommands[0].options[2].takes_value);
  EXPECT_EQ(subcommands[0].options[2].type, "");
}

TEST(OptionTable, TheProgramPrintsAllThatItsHelpLists) {
  const Scratch scratch;
  const Outcome outcome = run_annulus(scratch, {"option-table"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto table = nlohmann::json::parse(outcome.out);
  const std::string help = run_annulus(scratch, {"--help"}).out;
  ASSERT_GE(table["subcommands"].size(), 15U);
  EXPECT_EQ(help.find("option-table"), std::string::npos);
  for (const auto& subcommand : table["subcommands"]) {
    const std::string name = subcommand["name"];
    const std::size_t space = name.find(' ');
    const std::string first = name.substr(0, space);
    EXPECT_NE(help.find("\n  " + first + " "), std::string::npos) << name;
    EXPECT_NE(subcommand["example"].get<std::string>().find("annulus " + name), std::string::npos) << name;
    std::vector<std::string> words{first};
    if (space != std::string::npos) words.push_back(name.substr(space + 1));  // a subcommand of a subcommand
    words.emplace_back("--help");
    const std::string own_help = run_annulus(scratch, words).out;
    for (const auto& option : subcommand["options"]) {
      EXPECT_NE(own_help.find(option["names"].back().get<std::string>()), std::string::npos) << name << option;
      EXPECT_NE(option["description"], "") << name << option;
    }
  }
}

}  // namespace
}  // namespace annulus::cli
