
/// Throws where a result is not ${macro}_OK.
inline void check($result result)
{
    if (result == ${macro}_OPEN)
        throw std::runtime_error("$prefix: the loops are open, or do not close");
    if (result != ${macro}_OK)
        throw std::runtime_error("$prefix: something is infinite or not a number");
}
