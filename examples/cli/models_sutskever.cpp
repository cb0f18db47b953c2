// The model of the paper `sutskever`.
#include <memory>

#include "model_of.hpp"

namespace cli {

template std::unique_ptr<AnyModel> model_of_paper<Sutskever>(const Origin&);

}  // namespace cli
