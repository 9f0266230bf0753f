// The one exception of the project, without the means to format its message: what users of the library include.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace annulus {

/// What an Error is about; says who can mend it.
enum class ErrorKind {
  kUsage,      ///< An argument or option is out of range, or two of them contradict each other.
  kInput,      ///< The data can be read but not used: NaN, a single class, mismatched lengths, another backbone.
  kFormat,     ///< A file is not what its format promises: truncated, damaged, unknown.
  kIo,         ///< The operating system failed: a missing file, a full disk, a failed download.
  kCancelled,  ///< A progress callback returned false.
  kInternal,   ///< A defect of the library.
};

/// The only exception that the library throws itself. what() is one sentence: what was expected, what was found, where.
/// Standard exceptions such as std::bad_alloc pass through.
class Error : public std::runtime_error {
 public:
  /// Makes an error of a kind with its sentence.
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  /// An error about one field of the options; the sentence is before + field + after.
  Error(ErrorKind kind, const std::string& before, const std::string& field, const std::string& after)
      : std::runtime_error(before + field + after), kind_(kind), field_(field), field_at_(before.size()) {}
  /// What the error is about.
  ErrorKind kind() const noexcept { return kind_; }
  /// The field that has the wrong value, as the options call it; empty when the error is about no field.
  const std::string& field() const noexcept { return field_; }
  /// what() with `word` in place of the field's name: a program says "--lr" where the library says "learning_rate".
  std::string message_with(std::string_view word) const {
    return field_.empty() ? what() : std::string(what()).replace(field_at_, field_.size(), word);
  }

 private:
  ErrorKind kind_;
  std::string field_;
  std::size_t field_at_ = 0;
};

}  // namespace annulus
