// annulus doctor: findings as text and JSON, and an exit code for scripts.
#include <string>
#include <vector>

#include "tests/fixtures/program.h"

namespace annulus {
namespace {

Outcome doctor_with(const Scratch& scratch, const std::string& variable, std::vector<std::string> options = {}) {
  std::vector<std::string> command{"env", variable, ANNULUS_PROGRAM, "doctor"};
  command.insert(command.end(), options.begin(), options.end());
  return Child(scratch, command).wait();
}

TEST(Doctor, ALibraryThatIsNoneIsSaidWithWhatToDo) {
  const Scratch scratch;
  std::ofstream(scratch / "lib.so") << "not a library";
  const Outcome outcome = doctor_with(scratch, "ANNULUS_ONNXRUNTIME=" + (scratch / "lib.so"));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.out.find("missing  image support: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("to mend it: unset ANNULUS_ONNXRUNTIME"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("something that is needed is missing"), std::string::npos) << outcome.err;
}

TEST(Doctor, FindingsAsJson) {
  const Scratch scratch;
  const Outcome outcome = doctor_with(scratch, "ANNULUS_CACHE=" + (scratch / "cache"), {"--json"});
  bool has_cache = false;
  bool all_there = true;
  for (const auto& finding : nlohmann::json::parse(outcome.out)) {
    EXPECT_EQ(finding["mend"].get<std::string>().empty(), finding["ok"].get<bool>()) << finding;
    if (finding["needed"].get<bool>() && !finding["ok"].get<bool>()) all_there = false;
    if (finding["subject"] == "cache folder") has_cache = finding["ok"].get<bool>();
  }
  EXPECT_TRUE(has_cache);
  EXPECT_EQ(outcome.exit_code, all_there ? 0 : 2) << outcome.out;
}

}  // namespace
}  // namespace annulus
