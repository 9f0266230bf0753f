// Fuzzes the text form of preprocessing recipes: what is accepted must survive being written and read again.
#include "annulus/vision/preprocess/preprocess_recipe.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "annulus/base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  annulus::PreprocessRecipe recipe;
  try {
    recipe = annulus::recipe_from_text({reinterpret_cast<const char*>(data), size});
  } catch (const annulus::Error& error) {
    if (error.kind() != annulus::ErrorKind::kUsage) std::abort();
    return 0;
  }
  const std::string text = annulus::to_text(recipe);
  if (annulus::recipe_from_text(text) != recipe || annulus::to_text(annulus::recipe_from_text(text)) != text)
    std::abort();
  return 0;
}
