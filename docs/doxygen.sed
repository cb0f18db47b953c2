# Marks our comments for Doxygen, line for line: the two lines at a header's top describe the file, and what stands
# behind a member describes the member.
1,/^#pragma once/ {
  s|^// |/// |
  s|^#pragma once|/// \\file|
}
/^ +[^/"]*[;,] +\/\/ / s|([;,]) +// |\1  ///< |
