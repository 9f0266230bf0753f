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
  kCall,        // what the pickle asked to be built: children are the callable and its arguments
  kPersistent,  // a reference to something outside the pickle: one child, its id
};

struct PickleNode {
  PickleKind kind = PickleKind::kNone;
  std::uint32_t children = 0;  // index into PickleDocument::children, for kinds that have any
  std::int64_t integer = 0;    // kBool, kInteger; kFloat: the bit pattern of the double
  std::string_view text;       // kString: bytes of the pickle itself; kGlobal: "module.name"
};

// One pickle. Nodes may be shared and may form cycles: whoever walks them must bound the walk.
struct PickleDocument {
  std::vector<PickleNode> nodes;
  std::vector<std::vector<std::uint32_t>> children;
  std::deque<std::string> global_names;  // what the texts of kGlobal nodes look into
  std::uint32_t root = 0;
  std::size_t size = 0;  // bytes that this pickle took of the input

  std::span<const std::uint32_t> children_of(std::uint32_t node) const;
};

struct PickleLimits {
  std::size_t nodes = std::size_t{1} << 22;  // values in one document
  std::size_t name_length = 256;             // characters of a module's or a class's name
};

// Reads the pickle (protocols 2 to 5) that `bytes` starts with; the document looks into `bytes`. `source` names it in
// messages. Throws Error{kFormat}: truncated, unknown opcode, a stack that does not hold what an opcode needs, or more
// values than the limits allow. Time and memory are linear in the bytes read.
// What a pickle adds to an object after building it (attributes, items of unknown classes) is dropped.
PickleDocument read_pickle(std::span<const std::byte> bytes, const std::string& source, const PickleLimits& = {});

}  // namespace annulus
