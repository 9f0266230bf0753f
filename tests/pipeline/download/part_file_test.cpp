// A part that grows over several openings and becomes the file.
#include "annulus/pipeline/download/part_file.h"

#include <gtest/gtest.h>

#include "annulus/base/error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

TEST(PartFile, GrowsOverOpeningsAndIsInstalled) {
  const ScratchFolder scratch;
  {
    PartFile part(scratch / "file");
    EXPECT_EQ(part.size(), 0U);
    part.append("one ", 4);
    part.set_tag("\"a\"");
  }
  PartFile part(scratch / "file");
  EXPECT_EQ(part.size(), 4U);
  EXPECT_EQ(part.tag(), "\"a\"");
  part.append("two", 3);
  EXPECT_FALSE(std::filesystem::exists(scratch / "file"));
  part.install();
  EXPECT_EQ(content_of(scratch / "file"), "one two");
  EXPECT_EQ(scratch.files(), 1U);
}

TEST(PartFile, ForgetsAndIsRemoved) {
  const ScratchFolder scratch;
  PartFile part(scratch / "file");
  part.append("wrong", 5);
  part.set_tag("tag");
  part.empty();
  EXPECT_EQ(part.tag(), "");
  part.append("ok", 2);
  EXPECT_EQ(content_of(part.path()), "ok");
  part.remove();
  EXPECT_EQ(scratch.files(), 0U);
  { const PartFile nothing(scratch / "other"); }
  EXPECT_EQ(scratch.files(), 0U) << "an empty part is of no use";
}

TEST(PartFile, WithoutAFolderThereIsASentence) {
  const ScratchFolder scratch;
  try {
    PartFile part((scratch / "none") / "file");
    FAIL() << "made";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("file.part: cannot be made: No such file"), std::string::npos);
  }
  EXPECT_EQ(megabytes_text(88'283'115), "88.3 MB");
}

}  // namespace
}  // namespace annulus
