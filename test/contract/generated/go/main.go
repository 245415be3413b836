// Logs in with the generated client, and prints the address of the caller's profile, or the code of
// the error: go run . URL EMAIL PASSWORD
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	"clients/accounts"
)

func main() {
	url, email, password := os.Args[1], os.Args[2], os.Args[3]
	client, err := accounts.NewClientWithResponses(url)
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	login, err := client.LogInWithResponse(ctx, accounts.Credentials{Email: email, Password: password})
	if err != nil {
		log.Fatal(err)
	}
	if login.JSON200 == nil {
		fmt.Println(login.HTTPResponse.Header.Get("Error-Code"))
		return
	}
	profile, err := client.GetProfileWithResponse(ctx, func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+login.JSON200.Token)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(profile.JSON200.Data.Email)
}
