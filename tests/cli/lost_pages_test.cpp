// A feature file that is cut while predictions are made from it.
#include <fcntl.h>
#include <sys/stat.h>

#include <array>

#include "tests/fixtures/program.h"

namespace annulus {
namespace {

TEST(LostPages, EndTheProgramWithASentenceThatNamesTheFile) {
  const Scratch scratch;
  const std::string features = write_small_features(scratch);
  const std::string model = scratch / "m.safetensors";
  ASSERT_EQ(run_annulus(scratch, quickly({"fit", features, "-q", "-o", model})).exit_code, 0);
  SyntheticOptions many = small_data();
  many.test_rows = 20000;
  const std::string large = write_small_features(scratch, many, "large.safetensors");
  const std::string pipe = scratch / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Child predict(scratch, {"sh", "-c", "exec \"$@\" >\"$0\"", pipe, ANNULUS_PROGRAM, "predict", model, large, "-q"});
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  // It has begun, and cannot get far before the pipe is read further.
  char first = 0;
  EXPECT_EQ(::read(reader, &first, 1), 1);
  std::filesystem::resize_file(large, 4096);
  std::array<char, 65536> rest{};
  while (::read(reader, rest.data(), rest.size()) > 0) continue;
  ::close(reader);
  expect_complaint(predict.wait(), 5, "large.safetensors: cannot be read any more");
}

}  // namespace
}  // namespace annulus
