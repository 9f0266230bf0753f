// Archives of folders hold the files' bytes under the prefix, the same way each time.
#include "annulus/store/formats/zip_folder.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <string>

#include "tests/fixtures/expect_error.h"
#include "tests/fixtures/scratch_folder.h"

namespace annulus {
namespace {

std::string entry_of(zip_t* archive, const std::string& name) {
  zip_stat_t status{};
  if (zip_stat(archive, name.c_str(), 0, &status) != 0) return "missing";
  std::string content(status.size, ' ');
  zip_file_t* const file = zip_fopen(archive, name.c_str(), 0);
  const zip_int64_t count = zip_fread(file, content.data(), content.size());
  zip_fclose(file);
  return count == static_cast<zip_int64_t>(content.size()) ? content : "short";
}

TEST(ZipFolder, HoldsTheFilesOfTheFolder) {
  const ScratchFolder scratch;
  std::filesystem::create_directories(scratch / "page/inner");
  scratch.write("page/b.txt", std::string(100'000, 'b'));
  scratch.write("page/ä.txt", "umlaut");
  scratch.write("page/empty", "");
  scratch.write("page/inner/left.txt", "out");
  zip_folder(scratch / "page", "birds/", scratch / "page.zip");
  EXPECT_LT(std::filesystem::file_size(scratch / "page.zip"), 10'000U);
  int code = 0;
  zip_t* const archive = zip_open((scratch / "page.zip").c_str(), ZIP_RDONLY, &code);
  ASSERT_NE(archive, nullptr) << code;
  EXPECT_EQ(zip_get_num_entries(archive, 0), 3);
  EXPECT_EQ(entry_of(archive, "birds/b.txt"), std::string(100'000, 'b'));
  EXPECT_EQ(entry_of(archive, "birds/ä.txt"), "umlaut");
  EXPECT_EQ(entry_of(archive, "birds/empty"), "");
  zip_discard(archive);
  zip_folder(scratch / "page", "birds/", scratch / "again.zip");
  EXPECT_EQ(content_of(scratch / "page.zip"), content_of(scratch / "again.zip"));
}

TEST(ZipFolder, SaysWhatCannotBeReadOrWritten) {
  const ScratchFolder scratch;
  expect_error(ErrorKind::kIo, "cannot be read", [&] { zip_folder(scratch / "none", "", scratch / "a.zip"); });
  expect_error(ErrorKind::kIo, "cannot be created", [&] { zip_folder(scratch.path(), "", scratch / "none/a.zip"); });
  EXPECT_EQ(scratch.files(), 0U);
}

}  // namespace
}  // namespace annulus
