"""What readers of all formats share: XML, values, schemas, names of joint kinds, packages."""
