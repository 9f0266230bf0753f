// What was called right stays so, also for the next process.
#include "studio_engine/project/confirmed_findings.h"

#include <gtest/gtest.h>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus::studio {
namespace {

TEST(ConfirmedFindings, AreKeptAndTakenBack) {
  const ScratchFolder folder;
  const ConfirmedFinding suspect{"mislabelled", "0123", "owl \"é\"", ""};
  const ConfirmedFinding elsewhere{"mislabelled", "0123", "jay", ""};
  const ConfirmedFinding copies{"duplicate", "0123", "owl", "4567"};
  {
    ConfirmedFindings findings(folder / "confirmed.jsonl");
    EXPECT_EQ(findings.size(), 0U);
    findings.set(suspect, true);
    findings.set(copies, true);
    findings.set(copies, true);
    EXPECT_EQ(findings.size(), 2U);
  }
  {
    ConfirmedFindings findings(folder / "confirmed.jsonl");
    EXPECT_TRUE(findings.contains(suspect));
    EXPECT_TRUE(findings.contains(copies));
    EXPECT_FALSE(findings.contains(elsewhere));
    findings.set(suspect, false);
  }
  const ConfirmedFindings findings(folder / "confirmed.jsonl");
  EXPECT_FALSE(findings.contains(suspect));
  EXPECT_EQ(findings.size(), 1U);
}

TEST(ConfirmedFindings, RejectOtherFiles) {
  const ScratchFolder folder;
  for (const char* text : {"{", "[]\n", "[1,2,3,4]\n", "[\"a\",\"b\",\"c\"]\n", "7\n"}) {
    folder.write("confirmed.jsonl", text);
    expect_error(ErrorKind::kFormat, "expected four texts", [&] { ConfirmedFindings(folder / "confirmed.jsonl"); });
  }
}

TEST(ConfirmedFindings, StayAsTheyAreWhereNothingCanBeWritten) {
  const ScratchFolder folder;
  ConfirmedFindings findings(folder / "missing/confirmed.jsonl");
  expect_error(ErrorKind::kIo, "confirmed.jsonl", [&] { findings.set({"outlier", "0123", "owl", ""}, true); });
  EXPECT_EQ(findings.size(), 0U);
}

}  // namespace
}  // namespace annulus::studio
