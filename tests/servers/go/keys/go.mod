module policygen.test/keys

go 1.26.0
