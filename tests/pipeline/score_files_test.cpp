// The folder of a score appears whole, and what prevents it is known beforehand.
#include "annulus/pipeline/score_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/made_score.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(ScoreFiles, AreAPageAndThreeTables) {
  const ScratchFolder scratch;
  const auto folder = (scratch / "deep/report");
  check_score_folder(folder);
  EXPECT_FALSE(std::filesystem::exists((scratch / "deep"))) << "a check makes nothing";
  const auto page = write_score(made_score(), folder, true);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  EXPECT_EQ(names, (std::set<std::string>{"report.html", "predictions.csv", "confusion.csv", "classes.csv"}));
  EXPECT_EQ(page, std::filesystem::path(folder) / "report.html");
  EXPECT_TRUE(content(page).starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(content(page).find("<img"), std::string::npos) << "images that cannot be read are left out";
  check_score_folder(folder);
  write_score(made_score(), folder, false);
}

TEST(ScoreFiles, AFileInTheWayIsAnErrorBeforeTheWork) {
  const ScratchFolder scratch;
  std::ofstream((scratch / "file")) << "x";
  expect_error(ErrorKind::kIo, "expected a folder", [&] { check_score_folder((scratch / "file")); });
  expect_error(ErrorKind::kIo, "expected a folder", [&] { check_score_folder((scratch / "file/report")); });
  std::filesystem::create_directories((scratch / "taken/classes.csv"));
  expect_error(ErrorKind::kIo, "classes.csv", [&] { check_score_folder((scratch / "taken")); });
}

}  // namespace
}  // namespace annulus
