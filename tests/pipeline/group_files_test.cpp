// Names, links and features of groups.
#include "annulus/pipeline/group_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/made_pool.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Rows of the made pool as images of two folders, two of them with one name.
GroupSheet images_in(const ScratchFolder& scratch) {
  GroupSheet sheet = made_groups();
  sheet.images = true;
  for (const char* const folder : {"one", "two"}) std::filesystem::create_directory(scratch / folder);
  const char* const names[] = {"one/a.png", "one/b.png", "two/a.png", "two/b.png", "two/c.png", "two/d.png"};
  for (std::size_t i = 0; i < 6; ++i) sheet.paths[i] = scratch.write(names[i], std::to_string(i)).string();
  return sheet;
}

TEST(GroupFiles, NamesAreReadAndGiven) {
  const ScratchFolder scratch;
  const GroupNames names = read_group_names(scratch.write("names.csv", "group-002,\"daisy, red\"\n"));
  GroupSheet sheet = made_groups();
  name_groups(names, sheet);
  EXPECT_EQ(sheet.names, (std::vector<std::string>{"group-001", "daisy, red"}));
  EXPECT_EQ(sheet.named, (std::vector<std::uint8_t>{0, 1}));
  expect_error(ErrorKind::kInput, "group-009", [&] { name_groups({{"group-009", "x"}}, sheet); });
  for (const char* const wrong : {"group-001\n", "group-001,a,b\n", "group-001,\n", "group-001,../up\n"}) {
    expect_error(ErrorKind::kFormat, "line 1", [&] { read_group_names(scratch.write("wrong.csv", wrong)); });
  }
}

TEST(GroupFiles, LinksLeadToTheImages) {
  const ScratchFolder scratch;
  const GroupSheet sheet = images_in(scratch);
  write_group_links(sheet, scratch / "groups");
  EXPECT_EQ(content(scratch / "groups/group-001/c.png"), "4");
  EXPECT_EQ(content(scratch / "groups/group-001/a.png"), "0");
  EXPECT_EQ(content(scratch / "groups/group-001/a-2.png"), "2");
  EXPECT_EQ(content(scratch / "groups/group-002/b.png"), "1");
  expect_error(ErrorKind::kIo, "empty", [&] { write_group_links(sheet, scratch / "groups"); });
}

TEST(GroupFiles, OnlyNamedGroupsAreWrittenWhereSomeAreNamed) {
  const ScratchFolder scratch;
  GroupSheet sheet = images_in(scratch);
  name_groups({{"group-002", "daisy"}}, sheet);
  write_group_links(sheet, scratch / "named");
  EXPECT_TRUE(std::filesystem::exists(scratch / "named/daisy/b.png"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "named/group-001"));
  write_group_csv(sheet, scratch / "named/metadata.csv");
  EXPECT_EQ(content(scratch / "named/metadata.csv"),
            "file_name,label,cover,copy_of,outlier\n../one/b.png,daisy,1,,1\n");
}

TEST(GroupFiles, FeaturesGetGroupsAsLabels) {
  GroupSheet sheet = made_groups();
  Matrix<float> rows(6, 2);
  for (std::size_t i = 0; i < 6; ++i) rows(i, 0) = static_cast<float>(i + 1);
  const FeatureSet pool(parts_of(std::move(rows)));
  const FeatureSet labelled = labelled_by_groups(pool, sheet);
  ASSERT_EQ(labelled.rows(), 4U);
  EXPECT_EQ(std::vector<std::int32_t>(labelled.labels().begin(), labelled.labels().end()),
            (std::vector<std::int32_t>{0, 1, 0, 0}));
  Matrix<float> last(1, 2);
  labelled.copy_rows(3, last.view());
  EXPECT_EQ(last(0, 0), 5.0F);
}

TEST(GroupFiles, PagesAreWritten) {
  const ScratchFolder scratch;
  write_discover_page(made_groups(), scratch / "groups.html");
  write_label_next_page(made_choices(), scratch / "next.html");
  EXPECT_NE(content(scratch / "groups.html").find("What is in heap"), std::string::npos);
  EXPECT_NE(content(scratch / "next.html").find("What to label next in heap"), std::string::npos);
}

}  // namespace
}  // namespace annulus
