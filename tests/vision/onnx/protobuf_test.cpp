// Fields of protocol-buffer messages, written and read back, and messages that end within a field.
#include "annulus/vision/onnx/protobuf.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "annulus/base/error.h"

namespace annulus {
namespace {

TEST(Protobuf, FieldsComeBackInOrder) {
  const std::string message =
      number_field(1, 300) + bytes_field(2, "name") + float_field(3, 1.5F) + number_field(16, ~std::uint64_t{0});
  const std::string source = "m.onnx";
  ProtobufReader reader(std::as_bytes(std::span(message)), source);
  auto field = reader.next();
  ASSERT_TRUE(field);
  EXPECT_EQ(field->number, 1U);
  EXPECT_EQ(field->value, 300U);
  field = reader.next();
  ASSERT_TRUE(field);
  EXPECT_TRUE(field->has_length);
  EXPECT_EQ(field->text(), "name");
  EXPECT_EQ(field->encoded.size(), 6U);
  ASSERT_TRUE(reader.next());
  field = reader.next();
  ASSERT_TRUE(field);
  EXPECT_EQ(field->number, 16U);
  EXPECT_EQ(field->value, ~std::uint64_t{0});
  EXPECT_FALSE(reader.next());
}

TEST(Protobuf, EveryTruncationIsAnErrorOrEndsBetweenFields) {
  const std::string first = bytes_field(2, "name");
  const std::string message = first + number_field(1, 300);
  const std::string source = "m.onnx";
  for (std::size_t size = 1; size < message.size(); ++size) {
    ProtobufReader reader(std::as_bytes(std::span(message)).first(size), source);
    const auto read_all = [&] {
      while (reader.next()) {
      }
    };
    if (size == first.size()) {
      EXPECT_NO_THROW(read_all());
    } else {
      EXPECT_THROW(read_all(), Error) << size;
    }
  }
}

}  // namespace
}  // namespace annulus
