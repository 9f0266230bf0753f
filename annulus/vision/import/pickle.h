// Reads Python pickles without running anything: values become nodes of a document, globals become their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace annulus {

enum class PickleKind : std::uint8_t {
  kNone,
  kBool,
  kInteger,
  kFloat,
  kString,      // text or bytes
  kList,        // also tuples and sets
  kDict,        // children are key, value, key, value, ...; collections.OrderedDict is one too
  kGlobal,      // a class or function, by name only
  kCall,        // a call in the pickle, not executed: children are the callable and its arguments
  kObject,      // a call whose result then got a state: children are the callable, its arguments and the state
  kPersistent,  // a reference to something outside the pickle: one child, its id
};

struct PickleNode {
  PickleKind kind = PickleKind::kNone;
  std::uint32_t children = 0;  // index into PickleDocument::children, for kinds that have any
  std::int64_t integer = 0;    // kBool, kInteger; kFloat: the bit pattern of the double
  std::string_view text;       // kString: bytes of the pickle itself; kGlobal: "module.name"
};

// One pickle. Nodes may be shared and may form cycles: code that walks them must bound the walk.
struct PickleDocument {
  std::vector<PickleNode> nodes;
  std::vector<std::vector<std::uint32_t>> children;
  std::deque<std::string> global_names;  // storage of the texts of kGlobal nodes
  std::uint32_t root = 0;
  std::size_t size = 0;  // length of this pickle in the input, in bytes

  std::span<const std::uint32_t> children_of(std::uint32_t node) const;
};

struct PickleLimits {
  std::size_t nodes = std::size_t{1} << 22;  // values in one document
  std::size_t name_length = 256;             // characters of a module's or a class's name
};

// Reads the pickle (protocols 2 to 5) that `bytes` starts with; the document keeps views of `bytes`. `source` names it
// in messages. Throws Error{kFormat}: truncated, unknown opcode, a stack that lacks the operands of an opcode, or more
// values than the limits allow. Time and memory are linear in the bytes read. Items that a pickle adds to an object
// of an unknown class are dropped, and so is the state of a dict.
PickleDocument read_pickle(std::span<const std::byte> bytes, const std::string& source, const PickleLimits& = {});

}  // namespace annulus
