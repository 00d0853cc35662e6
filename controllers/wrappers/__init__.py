"""Controllers around other controllers: sampling, filters, saturation, noise."""
